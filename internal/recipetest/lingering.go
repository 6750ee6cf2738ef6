package recipetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/state"
)

// Contend acquires a lock or leads, over and over, until ctx ends. The holder or leader works
// in the room.
type Contend func(ctx context.Context, c *framework.Client, r *Room)

// Room is the place where the holders of a lock work. Work that is asked to stop takes
// nearly the safety margin to do so, and leaves the room only then.
type Room struct {
	capacity int // the number of places
	stopping time.Duration

	mu    sync.Mutex // protects the following fields
	rng   *rand.Rand
	taken int
	works int // how often work has begun
	wrong []string
}

// Work takes some places until ctx ends and the work has stopped, or for a
// while.
func (r *Room) Work(ctx context.Context, places int) {
	longest, stopping := r.enter(places)
	defer r.leave(places)
	select {
	case <-ctx.Done():
		time.Sleep(stopping)
	case <-time.After(longest):
	}
}

func (r *Room) enter(places int) (longest, stopping time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.works++
	if r.taken += places; r.taken > r.capacity {
		r.wrong = append(r.wrong, time.Now().String())
	}
	return r.upToLocked(30 * time.Second), r.upToLocked(r.stopping)
}

func (r *Room) leave(places int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= places
}

func (r *Room) upTo(d time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upToLocked(d)
}

func (r *Room) upToLocked(d time.Duration) time.Duration {
	return time.Duration(r.rng.Int64N(int64(d)))
}

// StopsWithinTheMargin checks that no more holders than the room's capacity work at the
// same time, if each stops within the safety margin. Three machines have two contenders
// each. The machines are cut off from the servers, and reconnect when their sessions
// have just been lost. Seeds alternate between error policies and margins.
func StopsWithinTheMargin(t *testing.T, seeds *Seeds, capacity int, contend Contend) {
	t.Helper()
	seeds.Each(t, func(t *testing.T, seed uint64) {
		InVirtualTime(t, func(t *testing.T, w *World) {
			policy := state.SessionPolicy
			if seed%2 == 0 {
				policy = state.StandardPolicy
			}
			part := []float64{0.1, 0.4}[seed/2%2]
			margin := time.Duration(part * float64(w.Session))
			r := &Room{
				capacity: capacity, stopping: margin - time.Millisecond,
				rng: rand.New(rand.NewPCG(seed, 0)),
			}
			ctx, cancel := context.WithCancel(w.Patience(t))
			var all sync.WaitGroup
			var machines []machine
			for range 3 {
				c, network := w.Connect(t, framework.WithErrorPolicy(policy), framework.WithSafetyMargin(part))
				machines = append(machines, machine{c, network})
				for range 2 {
					all.Go(func() { contend(ctx, c, r) })
				}
			}
			for range thorough.Size(30, 12) {
				time.Sleep(r.upTo(w.Session / 2))
				machines[r.upTo(3)].cutOff(ctx, r, margin)
			}
			cancel()
			all.Wait()
			require.Positive(t, r.works, "nobody has worked")
			require.Empty(t, r.wrong, "two holders worked at the same time")
		})
	})
}

// machine is a client with its network.
type machine struct {
	client  *framework.Client
	network *Network
}

// cutOff isolates a machine. The machine reconnects within the margin after the loss of
// its session, or earlier. Sometimes the connection breaks before that.
func (m machine) cutOff(ctx context.Context, r *Room, margin time.Duration) {
	session, err := m.client.Session(ctx)
	if err != nil {
		return
	}
	heal := m.network.Isolate()
	if r.upTo(2) == 0 {
		time.Sleep(r.upTo(session.Timeout() - margin))
		m.network.Refuse(true)
		defer m.network.Refuse(false)
		heal() // breaks the connection
	}
	defer heal()
	enough := time.NewTimer(r.upTo(2 * session.Timeout()))
	defer enough.Stop()
	select {
	case <-session.Context().Done():
		time.Sleep(r.upTo(margin))
	case <-enough.C:
	}
}
