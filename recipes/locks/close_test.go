package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// A holder loses its lease while the session lives, and has the safety margin to stop.
// Its client is closed at once, as by a deferred call in main. The next holder is
// admitted when the margin is over. If the holder has released the lease, it has
// stopped, and the next holder is admitted at once.
func TestCloseWhileAnInterruptedHolderStops(t *testing.T) {
	const two = 2
	for name, c := range map[string]struct {
		opts []framework.Option
		lock func(c *framework.Client) locks.Locker
		lose func(w *world, lease *locks.Lease, network func())
		next func(c *framework.Client) acquireFunc
	}{
		"interruption": {
			opts: []framework.Option{framework.WithErrorPolicy(state.StandardPolicy)},
			lock: mutexAt,
			lose: func(_ *world, _ *locks.Lease, cut func()) { cut() },
		},
		"interruption of readers that share a node": {
			opts: []framework.Option{framework.WithErrorPolicy(state.StandardPolicy)},
			lock: func(c *framework.Client) locks.Locker {
				return locks.NewInterProcessReadWriteLock(c, "/l", idleFor(9, time.Minute)).ReadLock()
			},
			lose: func(_ *world, _ *locks.Lease, cut func()) { cut() },
			next: writerOf,
		},
		"revocation": {
			lock: func(c *framework.Client) locks.Locker {
				return locks.NewInterProcessMutex(c, "/l", locks.WithRevocation())
			},
			lose: func(w *world, lease *locks.Lease, _ func()) {
				_ = w.Fake.Set(lease.Path(), []byte("__REVOKE__"))
			},
		},
		"deletion of one of two leases": {
			lock: func(c *framework.Client) locks.Locker {
				return several{locks.NewInterProcessSemaphore(c, "/l", locks.Limit(two)), two}
			},
			lose: func(w *world, lease *locks.Lease, _ func()) {
				time.Sleep(2 * time.Second) // the holder watches its nodes by now
				_ = w.Fake.Delete(lease.Path())
			},
			next: func(c *framework.Client) acquireFunc {
				return of(several{locks.NewInterProcessSemaphore(c, "/l", locks.Limit(two)), two})
			},
		},
	} {
		for _, released := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", released"}[released], func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					client, network := w.Connect(t, append(c.opts, framework.WithSafetyMargin(0.3))...)
					lease := hold(t, t.Context(), c.lock(client))
					next := c.next
					if next == nil {
						next = func(c *framework.Client) acquireFunc { return of(mutexAt(c)) }
					}
					granted := make(chan time.Time, 1)
					go func() {
						l, err := next(w.Observer)(t.Context())
						granted <- time.Now()
						if err == nil {
							_ = l.Release(t.Context())
						}
					}()
					time.Sleep(time.Second)
					c.lose(w, lease, network.Cut)
					<-lease.Context().Done()
					lost := time.Now()
					if released {
						require.Error(t, lease.Release(t.Context()))
					}
					require.NoError(t, client.Close())
					after := (<-granted).Sub(lost)
					if released {
						require.LessOrEqual(t, after, time.Second)
					} else {
						require.GreaterOrEqual(t, after, w.Session*3/10)
					}
				})
			})
		}
	}
}

// several is a semaphore of which each acquire takes n leases.
type several struct {
	*locks.InterProcessSemaphore
	n int
}

func (s several) Acquire(ctx context.Context) (*locks.Lease, error) { return s.AcquireN(ctx, s.n) }
