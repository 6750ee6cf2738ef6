package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// A refusal or two may be one server's, or a moment's.
func TestCacheAsksAgainAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/a")
		client := connect(t, srv)
		for range 3 {
			srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
			c := open(t, client, "/r")
			srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
			srv.Session(client.SessionID()).Expire()
			create(t, srv, fmt.Sprint("/r/", srv.Stats().Zxid))
			require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
			require.Len(t, srv.Watches(), 1)
			require.NoError(t, c.Close())
		}
	})
}

// A failing server returns an error to the client or to the cache, and both retry. The
// error of a wait for the cache names the server's error.
func TestWaitSyncedNamesTheLastError(t *testing.T) {
	for _, trouble := range []struct {
		op   zktest.Op
		code zktest.Code
	}{
		{zkinside.OpAddWatch, zkinside.ErrThrottled},
		{zktest.OpGetData, zkinside.ErrThrottled},
		{zkinside.OpAddWatch, zkinside.ErrSystem}, // which the client does not try again
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			create(t, srv, "/r", "/r/a")
			rule := srv.Inject(zktest.Rule{Optional: true, Op: trouble.op, Times: -1, Do: zktest.Fail(trouble.code)})
			c, err := cache.New(connect(t, srv), "/r")
			require.NoError(t, err)
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			code, _ := framework.ServerCode(c.WaitSynced(ctx))
			require.EqualValues(t, trouble.code, code, "%v", trouble)
			rule.Remove()
			require.NoError(t, c.WaitSynced(within(t)))
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, isAnswer := framework.ServerCode(c.WaitFor(ctx, srv.Stats().Zxid+1))
			require.False(t, isAnswer, "%v: that is over", trouble)
		})
	}
}

// A cache on a server without persistent watches ends with an error that says so.
func TestCacheOnAServerThatIsTooOldEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrUnimplemented)})
		c, err := cache.New(connect(t, srv), "/r")
		require.NoError(t, err)
		defer c.Close()
		err = c.WaitSynced(within(t))
		require.ErrorIs(t, err, framework.ErrUnimplemented)
		require.ErrorContains(t, err, "ZooKeeper 3.6")
	})
}

// ClickHouse Keeper sends the path of a recursive watch in place of the path of
// the node. The events are noticed to be wrong if the root changes in the same step,
// too: there are more of them than changes of the root, or they are not what has
// happened to it.
func TestEventsWithTheWrongPathEndTheCache(t *testing.T) {
	for name, change := range map[string]func(srv *zktest.Server) error{
		"changed": func(srv *zktest.Server) error { return srv.Set("/r/a", []byte("new")) },
		"created": func(srv *zktest.Server) error { return srv.Create("/r/b", []byte("new")) },
		"deleted": func(srv *zktest.Server) error { return srv.Delete("/r/a") },
	} {
		for _, rootChanges := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " root changes ", rootChanges), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := zktest.Start(t, zkinside.With(zkinside.Settings{ClickHouseKeeper: true}).(zktest.Option))
					create(t, srv, "/r", "/r/a")
					c := open(t, connect(t, srv), "/r")
					require.NoError(t, srv.Set("/r", []byte("mine"))) // this event is right
					require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
					if rootChanges {
						require.NoError(t, srv.Set("/r", []byte("first")))
					}
					require.NoError(t, change(srv))
					if rootChanges {
						require.NoError(t, srv.Set("/r", []byte("second")))
					}
					<-c.Done()
					require.ErrorIs(t, c.Err(), cache.ErrWrongEvents)
				})
			})
		}
	}
}

// True events of the root are not taken for wrong ones, however many there are
// and whatever else happens.
func TestEventsOfTheRootUnderRandomChanges(t *testing.T) {
	for seed := range uint64(thorough.Size(20, 4)) {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			create(t, srv, "/r")
			c := open(t, connect(t, srv), "/r")
			changeAtRandom(srv, rand.New(rand.NewPCG(seed, 2)))
			require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
			requireTree(t, srv, c, "/r", "/r/a")
		})
	}
}

// changeAtRandom changes /r and a node below it. Some changes cannot be made.
func changeAtRandom(srv *zktest.Server, dice *rand.Rand) {
	for range 500 {
		switch dice.IntN(12) {
		case 0:
			srv.Create("/r", nil)
		case 1:
			srv.Delete("/r")
		case 2:
			srv.Create("/r/a", nil)
		case 3:
			srv.Delete("/r/a")
		case 4:
			srv.Set("/r/a", nil)
		case 5:
			time.Sleep(time.Duration(dice.IntN(3)) * time.Millisecond)
		case 6:
			synctest.Wait()
		case 7:
			if dice.IntN(20) == 0 {
				srv.CutAll()
				time.Sleep(time.Duration(dice.IntN(5)) * time.Second)
			}
		default:
			srv.Set("/r", nil)
		}
	}
}

// requireTree requires that a cache has these nodes as the server has them.
func requireTree(t *testing.T, srv *zktest.Server, c *cache.Cache, paths ...string) {
	t.Helper()
	for _, path := range paths {
		want, there := srv.Node(path)
		got, cached := c.Get(path)
		require.Equal(t, there, cached, path)
		if there {
			require.Equal(t, string(want.Data), string(got.Data), path)
			require.Equal(t, want.Stat.Mzxid, got.Stat.Mzxid, path)
		}
	}
}
