package lockloop_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/testing/zktest"
)

// endingContext is a context in the moment of its end: its Err is set already,
// but no goroutine that waits for its Done has been woken yet.
type endingContext struct {
	context.Context
	ended atomic.Bool
}

func (c *endingContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// oneByCount runs a test with a loop that admits no more than one child of /l.
func oneByCount(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client, loop *lockloop.Loop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		test(t, srv, c, lockloop.ByCount(
			lockloop.Nodes{Client: c, Path: "/l", Kind: "lease-", Kinds: []string{"lease-"}},
			func(context.Context, bool) (int, *framework.Watch, error) { return 1, nil, nil }))
		require.Empty(t, srv.Watches())
	})
}

func TestGrantByCountThatComesAfterTheCallerHasGoneIsNone(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, loop *lockloop.Loop) {
		require.NoError(t, srv.Create("/l", nil)) // makes the first listing find the path
		ctx := &endingContext{Context: t.Context()}
		srv.Inject(zktest.Rule{Op: zktest.OpGetChildren, Do: zktest.CallAfter(func(zktest.Request) { ctx.ended.Store(true) })})
		_, refusal := loop.Run(ctx, lockloop.Attempt{Wait: true})
		require.NotNil(t, refusal)
		require.ErrorIs(t, refusal.Err, context.Canceled)
		synctest.Wait()
		require.Empty(t, srv.Children("/l"))
	})
}

// The other contender's node is deleted between the first look at the children
// and the second, which sets a watch. The second look is a grant, unless the
// caller has gone.
func TestSecondLookByCountIsAGrantToCallersThatAreStillThere(t *testing.T) {
	for _, gone := range []bool{false, true} {
		oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, loop *lockloop.Loop) {
			require.NoError(t, srv.Create("/l", nil))
			require.NoError(t, srv.Create("/l/lease-0000000000", nil))
			ctx := &endingContext{Context: t.Context()}
			second := srv.Inject(zktest.Rule{Op: zktest.OpGetChildren, After: 1, Do: zktest.All(
				zktest.Call(func(zktest.Request) { srv.Delete("/l/lease-0000000000") }),
				zktest.CallAfter(func(zktest.Request) { ctx.ended.Store(gone) }))})
			node, refusal := loop.Run(ctx, lockloop.Attempt{Wait: true})
			require.Equal(t, 1, second.Hits())
			if gone {
				require.NotNil(t, refusal)
				require.ErrorIs(t, refusal.Err, context.Canceled)
			} else {
				require.Nil(t, refusal)
				require.NoError(t, c.Delete(t.Context(), node.Path, framework.AnyVersion))
			}
			synctest.Wait()
			require.Empty(t, srv.Children("/l"))
		})
	}
}

func TestSecondLookByCountGrantsNothingThatIsNotFree(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, loop *lockloop.Loop) {
		require.NoError(t, srv.Create("/l", nil))
		require.NoError(t, srv.Create("/l/lease-0000000000", nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, refusal := loop.Run(ctx, lockloop.Attempt{Wait: true})
		require.NotNil(t, refusal)
		require.ErrorIs(t, refusal.Err, context.DeadlineExceeded)
		require.Equal(t, "lease-0000000000", refusal.Holder)
		require.Equal(t, 1, refusal.Ahead)
		synctest.Wait()
		require.Equal(t, []string{"lease-0000000000"}, srv.Children("/l"))
	})
}
