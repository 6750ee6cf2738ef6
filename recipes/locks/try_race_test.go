package locks_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// busy knows who has to do with a lock: from the call of a try until that was
// refused, or until the lock is released.
type busy struct {
	mu     sync.Mutex
	now    int // how many
	begins int // how often somebody has begun
}

// begin returns whether somebody else is busy, and how often somebody has begun.
func (b *busy) begin() (others bool, begins int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now++
	b.begins++
	return b.now > 1, b.begins
}

func (b *busy) end() (begins int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now--
	return b.begins
}

// Goroutines of several clients try one lock again and again, on servers that lag
// behind. One has it at a time. One is refused only if another has to do with the
// lock during the call.
func TestTriesOfManyOnServersThatLag(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"mutex": mutexAt, "mutex with hand-over": handOverAt, "writer": writerAt, "semaphore": semaphoreAt, "multi-lock": multiAt,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(thorough.Size(20, 3)) {
				synctest.Test(t, func(t *testing.T) { tryAtRandom(t, lock, seed) })
			}
		})
	}
}

func tryAtRandom(t *testing.T, lock func(c *framework.Client) locks.Locker, seed uint64) {
	ens := zktest.StartEnsemble(t, 3)
	members := append(ens.Followers(), ens.Leader())
	for i, m := range ens.Followers() {
		require.NoError(t, m.Lag(time.Duration(i+1)*20*time.Millisecond))
	}
	var all sync.WaitGroup
	var inside, granted, refused atomic.Int32
	var busy busy
	for i, m := range members {
		c := connectToOne(t, ens, m)
		shared := lock(c)
		for j := range 2 {
			rng := rand.New(rand.NewPCG(seed, uint64(2*i+j)))
			all.Go(func() {
				for range 20 {
					time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
					others, began := busy.begin()
					lease, err := shared.TryAcquire(t.Context())
					if err != nil {
						refused.Add(1)
						assert.ErrorIs(t, err, locks.ErrNotAcquired)
						assert.True(t, busy.end() > began || others, "nobody else was there: %v", err)
						continue
					}
					granted.Add(1)
					assert.EqualValues(t, 1, inside.Add(1), "one has it")
					time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
					inside.Add(-1)
					assert.NoError(t, lease.Release(t.Context()))
					busy.end()
				}
			})
		}
	}
	all.Wait()
	require.Positive(t, granted.Load())
	require.Positive(t, refused.Load())
}
