package seat

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// lanesOf returns how many lanes there are of a client's locks.
func lanesOf(c *framework.Client) (n int) {
	lanes.mu.Lock()
	defer lanes.mu.Unlock()
	for key, first := range lanes.byKey {
		for q := first; q != nil && key.client == framework.Extend(c).Root(); q = q.next {
			n++
		}
	}
	return n
}

// A lane exists only while it is in use, so that a process can lock any number of
// paths one after the other.
func TestNothingIsKeptOfALockThatNobodyWants(t *testing.T) {
	for name, policy := range map[string]Policy{
		"given back": {},
		"hand-over":  {MaxReuses: 2, HandOver: time.Hour},
		"parked":     {MaxReuses: 2, Idle: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				ctx := t.Context()
				m := mutex(c, func(cfg *Config) {
					cfg.Policy = policy
					cfg.NotAcquired = func(n NotAcquired) error {
						if n.Err == nil {
							return ErrNotAcquired
						}
						return n.Err
					}
				})
				require.Zero(t, lanesOf(c))
				lease, err := m.Acquire(ctx, true)
				require.NoError(t, err)
				require.Equal(t, 1, lanesOf(c))
				for range 10 {
					go func() {
						lease, err := m.Acquire(ctx, true)
						if err == nil {
							lease.Release(ctx)
						}
					}()
				}
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err = m.Acquire(short, true)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				_, err = m.Acquire(ctx, false)
				require.ErrorIs(t, err, ErrNotAcquired)
				require.Equal(t, 1, lanesOf(c))
				require.NoError(t, lease.Release(ctx))
				time.Sleep(time.Minute)
				require.Zero(t, lanesOf(c), "the last has released it")

				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
				_, err = m.Acquire(ctx, true)
				require.Error(t, err)
				require.Zero(t, lanesOf(c), "refused")

				lease, err = m.Acquire(ctx, true)
				require.NoError(t, err)
				expire(srv, lease.Hold().Seat())
				require.Zero(t, lanesOf(c), "lost, and never released")

				_, err = m.Acquire(ctx, true)
				require.NoError(t, err)
				go m.Acquire(ctx, true)
				synctest.Wait()
				require.NoError(t, c.Close())
				synctest.Wait()
				require.Zero(t, lanesOf(c), "the client is closed")
			})
		})
	}
}

// An arrival that comes while the last goroutine leaves finds that lane or the
// next. It never waits in one that is over.
func TestArrivalsNeverWaitInALaneThatIsOver(t *testing.T) {
	set := &laneSet{}
	key := laneKey{Key: Key{path: "/m"}}
	const arrivals = 20000
	done := make(chan struct{})
	for i := range 4 {
		of := writes
		if i%2 == 0 {
			of = reads
		}
		go func() {
			defer func() { done <- struct{}{} }()
			for range arrivals {
				w := &waiter{of: of}
				q, _ := set.arrive(key, w)
				if ready := readyOf(q, w); ready != nil {
					<-ready
				}
				q.stopDriving(w)
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.Empty(t, set.byKey)
}

func readyOf(q *lane, w *waiter) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.ready
}

// Objects whose nodes differ have a lane each. A lock is forgotten with the last.
func TestLanesOfOneLock(t *testing.T) {
	for name, order := range map[string][]int{"first to last": {0, 1, 2}, "last to first": {2, 1, 0}, "the middle first": {1, 0, 2}} {
		t.Run(name, func(t *testing.T) {
			set, all := &laneSet{}, []*lane(nil)
			for i := range 3 {
				q, _ := set.arrive(laneKey{Key: Key{path: "/m"}, data: string(rune('a' + i))}, &waiter{of: writes})
				all = append(all, q)
			}
			other, _ := set.arrive(laneKey{Key: Key{path: "/other"}}, &waiter{of: writes})
			require.Empty(t, set.beside(other))
			require.ElementsMatch(t, all[1:], set.beside(all[0]))
			for _, i := range order {
				require.Same(t, all[i], set.lookUp(all[i].key))
				set.remove(all[i])
				set.remove(all[i]) // whoever finds it over removes it, too
				require.Nil(t, set.lookUp(all[i].key))
			}
			require.Len(t, set.byKey, 1)
		})
	}
}
