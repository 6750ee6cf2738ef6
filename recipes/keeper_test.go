package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Locks, leaders and semaphores need nothing in which ClickHouse Keeper differs,
// except that a client must be told that there are no containers. Three clients want
// what two, or one, may hold. The session of one ends, and the server gives the
// client another one in silence.
func TestLocksOnClickHouseKeeper(t *testing.T) {
	type acquire func(context.Context, *framework.Client) (*locks.Lease, error)
	locker := func(of func(c *framework.Client) locks.Locker) acquire {
		return func(ctx context.Context, c *framework.Client) (*locks.Lease, error) { return of(c).Acquire(ctx) }
	}
	for name, tc := range map[string]struct {
		holders int
		acquire acquire
	}{
		"mutex": {1, locker(func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/p/q") })},
		"write lock": {1, locker(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, "/p/q").WriteLock()
		})},
		"read lock": {3, locker(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, "/p/q").ReadLock()
		})},
		"semaphore": {2, locker(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessSemaphore(c, "/p/q", locks.Limit(2))
		})},
		"multi-lock": {1, locker(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/p/q"), locks.NewInterProcessMutex(c, "/p/r"))
		})},
		"latch": {1, func(ctx context.Context, c *framework.Client) (*locks.Lease, error) {
			latch, err := leader.NewLatch(c, "/p/q")
			if err != nil {
				return nil, err
			}
			return latch.WaitLeadership(ctx)
		}},
		"selector": {1, func(ctx context.Context, c *framework.Client) (*locks.Lease, error) {
			leads := make(chan *locks.Lease, 1)
			selector := leader.NewSelector(c, "/p/q")
			go selector.Run(ctx, func(work context.Context) error {
				leads <- selector.Leadership()
				<-work.Done()
				return nil
			})
			select {
			case lease := <-leads:
				return lease, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{srv: zktest.Start(t, zkinside.With(zkinside.Settings{ClickHouseKeeper: true}).(zktest.Option))}
				ctx := recipetest.Within(t, time.Hour)
				type holding struct {
					client *framework.Client
					lease  *locks.Lease
				}
				held := make(chan holding, 3)
				for range 3 {
					c := s.connect(t, framework.WithoutContainers())
					go func() {
						if lease, err := tc.acquire(ctx, c); err == nil { // the last ones are still waiting at the end
							held <- holding{c, lease}
						}
					}()
				}
				synctest.Wait()
				require.Len(t, held, tc.holders)
				first := <-held
				s.srv.Session(first.client.SessionID()).Expire()
				<-first.lease.Context().Done()
				if tc.holders < 3 {
					next := <-held
					require.NoError(t, next.lease.Context().Err())
				}
				require.NoError(t, first.client.WaitConnected(ctx))
				require.ErrorIs(t, context.Cause(first.lease.Context()), framework.ErrSessionLost)
			})
		})
	}
}
