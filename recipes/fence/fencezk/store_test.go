package fencezk_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/testing/zktest"
)

// lease is a lease of a lock that needs no server.
type lease int64

func (l lease) Context() context.Context { return context.Background() }
func (l lease) FencingToken() int64      { return int64(l) }
func (l lease) Path() string             { return fmt.Sprint("/locks/ledger/of ", int64(l)) }

// Promise: the tokens of resources are in ZooKeeper, for all services that use the path,
// and no token becomes smaller.
func TestStore(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		ctx := w.Patience(t)
		one := fencezk.NewStore(w.Observer, "/app/fences")
		c, _ := w.Connect(t)
		other := fencezk.NewStore(c, "/app/fences")
		require.NoError(t, one.Raise(ctx, "/locks/ledger", lease(7)))
		require.NoError(t, other.Raise(ctx, "/locks/ledger", lease(7)))
		require.NoError(t, other.Raise(ctx, "/locks/ledger", lease(9)))
		require.Equal(t,
			&fence.StaleError{Token: 8, Owner: "/locks/ledger/of 8", NewestToken: 9, NewestOwner: "/locks/ledger/of 9"},
			one.Raise(ctx, "/locks/ledger", lease(8)))
		require.NoError(t, one.Raise(ctx, "/locks/other", lease(1)))
		node, _ := w.Fake.Node("/app/fences/%2Flocks%2Fledger")
		require.Equal(t, "9 /locks/ledger/of%209", string(node.Data))
		require.EqualValues(t, 1, node.Stat.Version, "an equal token writes nothing")

		require.NoError(t, w.Fake.Set("/app/fences/%2Flocks%2Fledger", []byte("x")))
		require.ErrorContains(t, one.Raise(ctx, "/locks/ledger", lease(10)), `fencezk: /app/fences/%2Flocks%2Fledger: "x" is not`)
	})
}

// A client's server lags, and still has the token that the client raises. Its successor
// has raised a larger one at another server.
//
// Promise: a token is refused after a larger one was admitted, whatever servers the
// services are connected to.
func TestStoreAtAServerThatLags(t *testing.T) {
	for name, token := range map[string]lease{"equal token": 7, "larger token": 8, "smaller token": 6} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := zktest.StartEnsemble(t, 3)
				storeAt := func(m *zktest.Member) fence.Store {
					c, err := framework.Connect(recipetest.Within(t, time.Minute), m.Addr(),
						framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(time.Minute))
					require.NoError(t, err)
					t.Cleanup(func() { c.Close() })
					return fencezk.NewStore(c, "/fences")
				}
				ctx := recipetest.Within(t, time.Hour)
				late := ens.Followers()[0]
				lags, other := storeAt(late), storeAt(ens.Leader())
				require.NoError(t, lags.Raise(ctx, "/lock", lease(7)))
				require.NoError(t, late.Lag(10*time.Second))
				require.NoError(t, other.Raise(ctx, "/lock", lease(9)))
				require.ErrorIs(t, lags.Raise(ctx, "/lock", token), fence.ErrStale)
			})
		})
	}
}

func TestStoreMayBeAtTheRootOfAView(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		ctx := w.Patience(t)
		view, err := w.Observer.Namespace("app")
		require.NoError(t, err)
		require.NoError(t, fencezk.NewStore(view, "/").Raise(ctx, "/lock", lease(7)))
		_, there := w.Fake.Node("/app/%2Flock")
		require.True(t, there)
		require.ErrorIs(t, fencezk.NewStore(view, "").Raise(ctx, "/lock", lease(7)), zk.ErrInvalidPath)
	})
}

func TestNilIsNamed(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		nilClient := &framework.ConfigError{Name: "client", Value: "nil", Reason: "must not be nil"}
		nilLease := &framework.ConfigError{Name: "lease", Value: "nil", Reason: "must not be nil"}
		require.Equal(t, nilClient, fencezk.NewStore(nil, "/fences").Raise(t.Context(), "/lock", lease(7)))
		require.Equal(t, nilLease, fencezk.NewStore(w.Observer, "/fences").Raise(t.Context(), "/lock", nil))
		require.PanicsWithError(t, nilClient.Error(), func() { fencezk.New(nil, nil) })
		require.PanicsWithError(t, nilLease.Error(), func() { fencezk.New(w.Observer, nil) })
	})
}

// nameless is a lease of another library.
type nameless struct {
	lease
	path string
}

func (l nameless) Path() string { return l.path }

// Promise: a lease without a fencing token is refused, and leaves the resource to others.
func TestStoreRefusesALeaseWithoutAToken(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		ctx := w.Patience(t)
		store := fencezk.NewStore(w.Observer, "/fences")
		for _, bad := range []fence.Lease{lease(0), lease(-1), nameless{7, ""}, nameless{7, "holder"}} {
			var unusable *framework.ConfigError
			require.ErrorAs(t, store.Raise(ctx, "/lock", bad), &unusable)
		}
		require.NoError(t, store.Raise(ctx, "/lock", lease(7)))
	})
}

// The first Raise of two services at the same time.
func TestStoreIsCreatedOnce(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		ctx := w.Patience(t)
		store := fencezk.NewStore(w.Observer, "/fences")
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 1, Do: zktest.Call(func(zktest.Request) {
			_ = w.Fake.Create("/fences", nil)
			_ = w.Fake.Create("/fences/%2Flock", []byte("9 /lock/a"))
		})})
		require.ErrorIs(t, store.Raise(ctx, "/lock", lease(8)), fence.ErrStale)
		require.NoError(t, store.Raise(ctx, "/lock", lease(9)))
	})
}
