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

// oneByCount runs a test with places of which one can be taken, below /l, and a
// turn of ours to take it.
func oneByCount(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client, take taker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		gate, err := c.Create(t.Context(), "/g/lock-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithParents())
		require.NoError(t, err)
		places := lockloop.ByCount(
			lockloop.Nodes{Client: c, Path: "/l", Kind: "lease-", Kinds: []string{"lease-"}},
			func(context.Context, bool) (int, *framework.Watch, error) { return 1, nil, nil })
		test(t, srv, c, func(ctx context.Context, a lockloop.Attempt) ([]framework.Created, *lockloop.NotAdmitted) {
			return places.Take(ctx, lockloop.Turn{Gate: gate, Open: ctx, Wanted: lockloop.Wanted{N: 1}, Leave: func() {}}, a)
		})
		require.Empty(t, srv.Watches())
	})
}

type taker func(context.Context, lockloop.Attempt) ([]framework.Created, *lockloop.NotAdmitted)

func TestPlaceThatIsTakenAfterTheCallerHasGoneIsGivenBack(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, take taker) {
		ctx := &endingContext{Context: t.Context()}
		made := srv.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Do: zktest.CallAfter(func(zktest.Request) { ctx.ended.Store(true) })})
		_, refusal := take(ctx, lockloop.Attempt{Wait: true})
		require.Equal(t, 1, made.Hits(), "the first one lacks the parent")
		require.NotNil(t, refusal)
		require.ErrorIs(t, refusal.Err, context.Canceled)
		synctest.Wait()
		require.Empty(t, srv.Children("/l"))
	})
}

// The other contender's node is deleted between the first look at the children
// and the second, which sets a watch. The second look finds the place.
func TestSecondLookFindsAPlace(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, take taker) {
		require.NoError(t, srv.Create("/l", nil))
		require.NoError(t, srv.Create("/l/lease-0000000000", nil))
		second := srv.Inject(zktest.Rule{
			Op: zktest.OpGetChildren, After: 1, Do: zktest.Call(func(zktest.Request) { srv.Delete("/l/lease-0000000000") }),
		})
		nodes, refusal := take(t.Context(), lockloop.Attempt{Wait: true})
		require.Equal(t, 1, second.Hits())
		require.Nil(t, refusal)
		require.Empty(t, srv.Children("/g"), "the turn is over")
		require.NoError(t, c.Delete(t.Context(), nodes[0].Path, framework.AnyVersion))
		require.Empty(t, srv.Children("/l"))
	})
}

func TestSecondLookGrantsNothingThatIsNotFree(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, take taker) {
		require.NoError(t, srv.Create("/l", nil))
		require.NoError(t, srv.Create("/l/lease-0000000000", nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, refusal := take(ctx, lockloop.Attempt{Wait: true})
		require.NotNil(t, refusal)
		require.ErrorIs(t, refusal.Err, context.DeadlineExceeded)
		require.Equal(t, "lease-0000000000", refusal.Holder)
		require.Equal(t, 1, refusal.Ahead)
		synctest.Wait()
		require.Equal(t, []string{"lease-0000000000"}, srv.Children("/l"))
		require.Len(t, srv.Children("/g"), 1, "the caller's")
	})
}

// Somebody deletes our node at the gate just before we take a place. Others may
// be at the places then, so that we take none.
func TestNoPlaceIsTakenIfTheTurnIsOver(t *testing.T) {
	oneByCount(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, take taker) {
		require.NoError(t, srv.Create("/l", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Call(func(zktest.Request) {
			srv.Delete("/g/" + srv.Children("/g")[0])
		})})
		_, refusal := take(t.Context(), lockloop.Attempt{Wait: true})
		require.NotNil(t, refusal)
		require.ErrorIs(t, refusal.Err, lockloop.ErrTurnOver)
		require.Empty(t, srv.Children("/l"))
	})
}
