package recipes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// inBubble runs a test in virtual time, with a server and a client.
func inBubble(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.New(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c)
	})
}

// queues returns how many queues there are of a client's locks.
func queues(c *framework.Client) (n int) {
	localQueues.mu.Lock()
	defer localQueues.mu.Unlock()
	for key := range localQueues.byKey {
		if key.client == c.Root() {
			n++
		}
	}
	return n
}

// A queue lasts as long as somebody uses it, so that a process can lock any number
// of paths one after the other.
func TestNothingIsKeptOfALockThatNobodyWants(t *testing.T) {
	for name, opts := range map[string][]LockOption{"shared": nil, "hand-over": {WithLocalHandOver(2, time.Hour)}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				ctx := t.Context()
				m := NewInterProcessMutex(c, "/m", opts...)
				require.Zero(t, queues(c))
				lease, err := m.Acquire(ctx)
				require.NoError(t, err)
				require.Equal(t, 1, queues(c))
				for range 10 {
					go func() {
						lease, err := m.Acquire(ctx)
						if err == nil {
							lease.Release(ctx)
						}
					}()
				}
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err = m.Acquire(short)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				_, err = m.TryAcquire(ctx)
				require.ErrorIs(t, err, ErrNotAcquired)
				require.Equal(t, 1, queues(c))
				require.NoError(t, lease.Release(ctx))
				synctest.Wait()
				require.Zero(t, queues(c), "the last has released it")

				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
				_, err = m.Acquire(ctx)
				require.Error(t, err)
				require.Zero(t, queues(c), "refused")

				_, err = m.Acquire(ctx)
				require.NoError(t, err)
				_, err = NewInterProcessSemaphore(c, "/s", 1).Acquire(ctx)
				require.NoError(t, err)
				require.Equal(t, 1, queues(c), "a gate is open again when there is a lease")
				srv.ExpireSession(c.SessionID())
				synctest.Wait()
				require.Zero(t, queues(c), "lost, and never released")

				_, err = m.Acquire(ctx)
				require.NoError(t, err)
				go m.Acquire(ctx)
				synctest.Wait()
				require.NoError(t, c.Close())
				synctest.Wait()
				require.Zero(t, queues(c), "the client is closed")
			})
		})
	}
}

// An arrival that comes while the last goroutine leaves finds that queue or the
// next. It never waits in one that is over.
func TestArrivalsNeverWaitInAQueueThatIsOver(t *testing.T) {
	set := &queueSet{}
	key := localKey{lockKey: lockKey{path: "/m"}}
	const arrivals = 20000
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range arrivals {
				q, w, _ := set.arrive(key)
				if w != nil {
					<-w.turn
				}
				q.entered()
				q.leave()
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.Empty(t, set.byKey)
}
