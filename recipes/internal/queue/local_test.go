package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// inBubble runs a test in virtual time, with a server and a client.
func inBubble(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c)
	})
}

// A queue in the process exists only while it is in use, so that a process can
// lock any number of paths one after the other.
func TestNothingIsKeptOfALockThatNobodyWants(t *testing.T) {
	for name, opts := range map[string][]locks.MutexOption{"shared": nil, "hand-over": {locks.WithLocalHandOver(2, time.Hour)}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				ctx := t.Context()
				m := locks.NewInterProcessMutex(c, "/m", opts...)
				require.Zero(t, queue.QueuesOf(c))
				lease, err := m.Acquire(ctx)
				require.NoError(t, err)
				require.Equal(t, 1, queue.QueuesOf(c))
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
				require.ErrorIs(t, err, locks.ErrNotAcquired)
				require.Equal(t, 1, queue.QueuesOf(c))
				require.NoError(t, lease.Release(ctx))
				synctest.Wait()
				require.Zero(t, queue.QueuesOf(c), "the last has released it")

				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
				_, err = m.Acquire(ctx)
				require.Error(t, err)
				require.Zero(t, queue.QueuesOf(c), "refused")

				_, err = m.Acquire(ctx)
				require.NoError(t, err)
				_, err = locks.NewInterProcessSemaphore(c, "/s", locks.Limit(1)).Acquire(ctx)
				require.NoError(t, err)
				require.Equal(t, 1, queue.QueuesOf(c), "a gate is open again when there is a lease")
				srv.Session(c.SessionID()).Expire()
				synctest.Wait()
				require.Zero(t, queue.QueuesOf(c), "lost, and never released")

				_, err = m.Acquire(ctx)
				require.NoError(t, err)
				go m.Acquire(ctx)
				synctest.Wait()
				require.NoError(t, c.Close())
				synctest.Wait()
				require.Zero(t, queue.QueuesOf(c), "the client is closed")
			})
		})
	}
}
