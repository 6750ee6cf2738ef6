package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// forest makes n mutexes below a path, each with a holder and a waiter, and
// returns their paths.
func forest(t testing.TB, c *framework.Client, root string, n int) (paths []string) {
	t.Helper()
	ctx := t.Context()
	_, err := c.Create(ctx, root, nil, framework.WithParents())
	require.NoError(t, err)
	var ops []framework.TxnOp
	for i := range n {
		path := fmt.Sprintf("%s/sku-%05d", root, i)
		paths = append(paths, path)
		ops = append(ops, framework.CreateOp(path, nil))
		for seq := range 2 {
			node := fmt.Sprintf("%s/%slock-%010d", path, javaIs, seq)
			ops = append(ops, framework.CreateOp(node, []byte("10.0.0.1"), framework.WithMode(framework.Ephemeral)))
		}
		if len(ops) >= 300 || i == n-1 {
			_, err := c.Transaction(ctx, ops...)
			require.NoError(t, err)
			ops = nil
		}
	}
	return paths
}

func TestOptionsSelect(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		mutex := javaIs + "lock-0000000001"
		for _, node := range []string{"/r/" + mutex, "/r/a/" + mutex, "/r/a/b/" + mutex, "/r/c/x", "/r/c/y", "/r/d/" + javaIs + "latch-0000000001"} {
			create(t, w.Observer, node, "", framework.Ephemeral)
		}
		all := map[string]inspect.Kind{
			"/r": inspect.Mutex, "/r/a": inspect.Mutex, "/r/a/b": inspect.Mutex,
			"/r/c": inspect.Registrations, "/r/d": inspect.LeaderLatch,
		}
		without := func(paths ...string) map[string]inspect.Kind {
			left := map[string]inspect.Kind{}
			for path, kind := range all {
				left[path] = kind
			}
			for _, path := range paths {
				delete(left, path)
			}
			return left
		}
		for name, tt := range map[string]struct {
			opts []inspect.Option
			want map[string]inspect.Kind
		}{
			"all":           {nil, all},
			"depth 2":       {[]inspect.Option{inspect.WithDepth(2)}, all},
			"depth 1":       {[]inspect.Option{inspect.WithDepth(1)}, without("/r/a/b")},
			"depth 0":       {[]inspect.Option{inspect.WithDepth(0)}, map[string]inspect.Kind{"/r": inspect.Mutex}},
			"registrations": {[]inspect.Option{inspect.WithKinds(inspect.Registrations)}, map[string]inspect.Kind{"/r/c": inspect.Registrations}},
			"selectors":     {[]inspect.Option{inspect.WithKinds("leader_selector")}, without("/r/c", "/r/d")},
			"filter":        {[]inspect.Option{inspect.WithFilter(func(path string) bool { return path != "/r/a" })}, without("/r/a", "/r/a/b")},
		} {
			require.Equal(t, tt.want, kindsOf(w.walk(t, "/r", tt.opts...)), name)
		}
		require.Equal(t, inspect.Registrations, w.one(t, "/r/c", inspect.WithDepth(0)).Kind)
		r := w.one(t, "/r/c", inspect.WithMaxParticipants(1))
		require.Len(t, r.Holders, 1)
		require.Equal(t, 1, r.Unread)
	})
}

// The filter gets each node once, in order.
func TestFilterGetsEachNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		paths := forest(t, w.Observer, "/r", 50)
		var entered []string
		recipes := w.walk(t, "/r", inspect.WithFilter(func(path string) bool {
			entered = append(entered, path)
			return true
		}))
		require.Len(t, recipes, 50)
		require.Equal(t, paths, entered)
	})
}

func TestInputThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for name, opt := range map[string]inspect.Option{
			"depth": inspect.WithDepth(-1), "kinds": inspect.WithKinds(), "participants": inspect.WithMaxParticipants(0),
			"filter": inspect.WithFilter(nil), "limits": inspect.WithSharedLimits(nil), "option": nil, "unknown kind": inspect.WithKinds(inspect.Mutex, "leader-latch"),
			"codec": inspect.WithServices(nil),
		} {
			var config *framework.ConfigError
			require.ErrorAs(t, w.errorOf(t.Context(), "/", opt), &config, name)
			_, err := inspect.WaitGraph(t.Context(), w.Observer, []string{"/"}, opt)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
		_, err := inspect.WaitGraph(t.Context(), w.Observer, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorIs(t, w.errorOf(t.Context(), "no-slash"), zk.ErrInvalidPath)
		require.ErrorIs(t, w.errorOf(t.Context(), "/none"), zk.ErrNoNode)
		for _, err := range inspect.Walk(t.Context(), nil, "/") {
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}

// A walk on a server that does not know multiRead ends with an error that says so,
// once a recipe has four participants.
func TestWalkOnAServerThatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Times: -1, Do: zktest.Fail(zkinside.ErrUnimplemented)})
		c := curatortest.Connect(t, srv)
		for seq := range 4 {
			create(t, c, fmt.Sprintf("/lock/lock-%010d", seq), "", framework.Ephemeral)
		}
		var last error
		for _, err := range inspect.Walk(t.Context(), c, "/") {
			last = err
		}
		require.ErrorIs(t, last, framework.ErrUnimplemented)
		require.ErrorContains(t, last, "inspect needs ZooKeeper 3.6 or later")
	})
}

// errorOf returns the error of a walk, or nil. Nothing follows an error.
func (w *world) errorOf(ctx context.Context, root string, opts ...inspect.Option) (last error) {
	for _, err := range inspect.Walk(ctx, w.Observer, root, opts...) {
		if last != nil {
			return errors.New("the walk went on after an error")
		}
		last = err
	}
	return last
}

// Requests are sent several at once, but no more than 32. Each takes ten
// milliseconds here. Of each lock there are three.
func TestRequestsUnderWayAreBounded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const locks, most, each = 200, 32, 10 * time.Millisecond
		forest(t, w.Observer, "/r", locks)
		w.Fake.ClearRequests()
		w.Fake.Inject(zktest.Rule{Path: "/r/*", Times: -1, Do: zktest.DelayReply(each)})
		w.Fake.Inject(zktest.Rule{Path: "/r/*/*", Times: -1, Do: zktest.DelayReply(each)})
		begin := time.Now()
		require.Len(t, w.walk(t, "/r"), locks)
		took := time.Since(begin)
		requests := 3 * locks
		require.Len(t, w.Requests(), requests+1)
		require.GreaterOrEqual(t, took, time.Duration(requests/most)*each, "not more at once")
		require.LessOrEqual(t, took, time.Duration(requests/most*3/2+10)*each, "nor much less")
	})
}

// The memory of a walk does not grow with the number of locks, but for their
// names.
func TestTenThousandLocksInBoundedMemory(t *testing.T) {
	thorough.MuchWork(t)
	inVirtualTime(t, func(t *testing.T, w *world) {
		const locks, bound = 10_000, 5 << 19 // bytes; the recipes are several times that
		forest(t, w.Observer, "/r", locks)
		w.Fake.ClearRequests()
		var most, before uint64
		n := 0
		for r, err := range inspect.Walk(w.Patience(t), w.Observer, "/r") {
			require.NoError(t, err)
			require.Len(t, r.Waiters, 1)
			if n++; n%1000 == 1 {
				w.Fake.ClearRequests()
				if most = max(most, heap()); before == 0 {
					before = most
				}
			}
		}
		require.Equal(t, locks, n)
		require.Less(t, most-before, uint64(bound))
	})
}

// heap returns the size of all that is reachable.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A caller that leaves the loop leaves nothing behind, and a sequence may be
// walked again.
func TestWalkIsLeftAtAnyRecipe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		forest(t, w.Observer, "/r", 5)
		walk := inspect.Walk(t.Context(), w.Observer, "/r")
		for last := range 5 {
			n := 0
			for _, err := range walk {
				require.NoError(t, err)
				if n++; n > last {
					break
				}
			}
			synctest.Wait() // a request may just be on its way
			w.Fake.ClearRequests()
			time.Sleep(time.Second)
			synctest.Wait()
			require.Empty(t, w.Requests(), "no visit goes on")
			require.Equal(t, last+1, n)
		}
		require.Empty(t, w.Fake.Watches())
	})
}

// A walk that only reads sends no writes, and sets no watches.
func TestWalkOnlyReads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		forest(t, w.Observer, "/r", 5)
		create(t, w.Observer, "/r/sem/leases/"+javaIs+"lease-0000000001", "", framework.Ephemeral)
		before := w.Fake.Stats().Zxid
		require.Len(t, w.walk(t, "/", inspect.WithSharedLimits(func(string) string { return "/none" })), 6)
		require.Equal(t, before, w.Fake.Stats().Zxid)
		require.Empty(t, w.Fake.Watches())
	})
}

// A path that may not be listed is reported, and a node that may not be read
// has an owner that is not known. Servers before 3.9 tell its session nevertheless,
// and so whether it is a registration.
func TestNodesThatMayNotBeRead(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		root := recipetest.Path(t)
		ctx := w.Patience(t)
		c, _ := w.Connect(t, framework.WithAuth("digest", []byte("shop:secret")))
		private := framework.WithACL(zk.DigestACL(zk.PermAll, "shop", "secret"))
		mutex := javaIs + "lock-000000000"
		for _, node := range []string{"/a/" + mutex + "1", "/c/" + mutex + "1", "/secret/" + mutex + "1"} {
			create(t, c, root+node, "10.0.0.1", framework.Ephemeral)
		}
		for _, node := range []string{"/a/" + mutex + "0", "/member"} {
			_, err := c.Create(ctx, root+node, []byte("x"), framework.WithMode(framework.Ephemeral), private)
			require.NoError(t, err)
		}
		_, err := c.SetACL(ctx, root+"/secret", zk.DigestACL(zk.PermAll, "shop", "secret"), framework.AnyVersion)
		require.NoError(t, err)

		all := w.walk(t, root)
		kinds := kindsOf(all)
		require.Equal(t, inspect.Mutex, kinds[root+"/a"])
		require.Equal(t, inspect.Mutex, kinds[root+"/c"])
		require.Equal(t, inspect.Unreadable, kinds[root+"/secret"])
		require.Contains(t, all[len(all)-1].Path+all[len(all)-2].Path, "/secret")
		holder := all[0].Holders[0]
		require.Equal(t, root+"/a/"+mutex+"0", holder.Path)
		require.True(t, holder.Unreadable)
		require.Equal(t, "unknown", holder.ID)
		if holder.Session == 0 {
			require.Equal(t, inspect.Unreadable, kinds[root+"/member"])
		} else {
			require.Equal(t, c.SessionID(), holder.Session)
			require.True(t, all[len(all)-1].Holders[0].Unreadable)
			require.Equal(t, inspect.Registrations, kinds[root])
		}
		secret := w.one(t, root+"/secret")
		require.Equal(t, inspect.Unreadable, secret.Kind)
		require.Contains(t, secret.Reason, zk.ErrNoAuth.Error())
		for _, r := range w.walk(t, root, inspect.WithKinds(inspect.LeaderLatch)) {
			require.Equal(t, inspect.Unreadable, r.Kind, "it may be there")
		}

		graph, err := inspect.WaitGraph(ctx, w.Observer, []string{root, root + "/secret"})
		require.NoError(t, err)
		require.Equal(t, 1, count(graph.Unreadable, root+"/secret"))
		require.Equal(t, root+"/a", graph.Waits[0].Path)
	})
}

func count(all []string, s string) (n int) {
	for _, other := range all {
		if other == s {
			n++
		}
	}
	return n
}
