package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

func startTTL(
	t *testing.T, c *framework.Client, path, data string, ttl time.Duration, opts ...nodes.Option,
) *nodes.PersistentNode {
	t.Helper()
	n, err := nodes.NewPersistentNode(c, path, []byte(data), append(opts, nodes.WithTTL(ttl))...)
	require.NoError(t, err)
	t.Cleanup(func() { n.Shutdown(recipetest.Within(t, time.Minute)) })
	return n
}

// A node with a time to live is touched three times within it, and for the
// first time at once. It outlives a Shutdown and a new session. The server
// deletes it when nobody has touched it for that time.
func TestTTLNodeOutlivesItsProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const ttl = 5 * time.Minute
		c, _ := w.Connect(t)
		first := startTTL(t, c, "/a", "first", ttl)
		r, err := first.WaitRegistered(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"touch"}, w.Fake.Children("/a"), "touched at once")
		time.Sleep(time.Hour)
		touched, _ := w.Fake.Node("/a/touch")
		require.InDelta(t, 36+6, touched.Stat.Version, 6, "three times in five minutes, and some more")
		w.Fake.Session(c.SessionID()).Expire()
		settle()
		require.Equal(t, "first", w.dataOf("/a"))
		require.NoError(t, first.Shutdown(t.Context()))

		time.Sleep(ttl / 2)
		require.Equal(t, "first", w.dataOf("/a"))
		second := startTTL(t, c, "/a", "second", ttl, nodes.WithConflictPolicy(nodes.Fail))
		again, err := second.WaitRegistered(t.Context())
		require.NoError(t, err)
		require.Equal(t, r.Czxid, again.Czxid, "it was taken over")
		require.NoError(t, second.Set(t.Context(), []byte("third")))
		time.Sleep(time.Hour)
		require.Equal(t, "third", w.dataOf("/a"))
		require.NoError(t, second.Shutdown(t.Context()))
		time.Sleep(2*ttl + 3*time.Minute) // the child goes first
		require.Equal(t, "-", w.dataOf("/a"))
	})
}

// A node that cannot be touched for its time to live counts as lost, whatever
// its session, until it was looked at. If the server has deleted it, it comes
// back with its last data.
func TestTTLNodeThatCannotBeTouched(t *testing.T) {
	for _, outage := range []time.Duration{20 * time.Second, time.Hour} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, network := w.Connect(t)
			n := startTTL(t, c, "/a", "data", 10*time.Minute)
			changes := n.Changes(context.Background())
			before, err := n.WaitRegistered(t.Context())
			require.NoError(t, err)
			synctest.Wait()
			network.Refuse(true)
			network.Cut()
			time.Sleep(9*time.Minute + 59*time.Second)
			_, there := n.Registration()
			require.True(t, there)
			time.Sleep(time.Second)
			synctest.Wait()
			_, there = n.Registration()
			require.False(t, there)
			time.Sleep(outage)
			network.Refuse(false)
			after, err := n.WaitRegistered(w.Patience(t))
			require.NoError(t, err)
			require.Equal(t, outage == time.Hour, before.Czxid != after.Czxid)
			require.Equal(t, "data", w.dataOf("/a"))
			var seen []nodes.State
			for change := range changes {
				seen = append(seen, change.State)
				if change.State == nodes.Lost {
					require.ErrorIs(t, change.Err, nodes.ErrNotTouched)
				}
				if len(seen) == 3 || len(seen) == 2 && seen[0] == nodes.Lost {
					break
				}
			}
			require.Equal(t, []nodes.State{nodes.Lost, nodes.Registered}, seen[len(seen)-2:])
		})
	}
}

// A node whose touches fail is not registered again before one succeeds, even
// if it is still there.
func TestTTLNodeIsNotRegisteredWithoutATouch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := startTTL(t, c, "/a", "data", 10*time.Minute)
		before, err := n.WaitRegistered(t.Context())
		require.NoError(t, err)
		settle()
		fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		_, there := n.Registration()
		require.False(t, there)
		require.Equal(t, "data", w.dataOf("/a"))
		fault.Remove()
		after, err := n.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		require.Equal(t, before.Czxid, after.Czxid)
	})
}

// A node is not registered before it was touched for the first time.
func TestTTLNodeThatIsNeverTouched(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/a/touch", Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		n := startTTL(t, c, "/a", "data", 10*time.Minute)
		_, err := n.WaitRegistered(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "data", w.dataOf("/a"))
		fault.Remove()
		w.ready(t, n)
	})
}

// Somebody deletes the child, or both nodes: they come back.
func TestTTLNodeThatIsDeleted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := startTTL(t, c, "/a", "data", time.Minute)
		_, err := n.WaitRegistered(t.Context())
		require.NoError(t, err)
		for _, path := range []string{"/a/touch", "/a"} {
			synctest.Wait()
			require.NoError(t, w.Fake.Delete(path))
			time.Sleep(30 * time.Second)
			require.Equal(t, []string{"touch"}, w.Fake.Children("/a"), path)
			require.Equal(t, "data", w.dataOf("/a"))
		}
	})
}

// On a real server: the node can be created, touched, and taken over.
func TestTTLNodeOnAServer(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		path := recipetest.Path(t)
		first := startTTL(t, c, path, "first", time.Minute)
		before, err := first.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		w.awaitNode(t, path+"/touch", true)
		require.NoError(t, first.Shutdown(w.Patience(t)))
		second := startTTL(t, c, path, "second", time.Minute, nodes.WithConflictPolicy(nodes.Fail))
		after, err := second.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		require.Equal(t, before.Czxid, after.Czxid)
		require.Equal(t, "second", w.data(t, path))
		require.NoError(t, second.Shutdown(w.Patience(t)))
		w.NoWatches(t)
	})
}

// Servers that have no nodes with a time to live end it.
func TestTTLNodeOnAServerWithoutThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zkinside.With(zkinside.Settings{NoTTLNodes: true}).(zktest.Option))
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		n := startTTL(t, c, "/a", "data", time.Minute)
		_, err = n.WaitRegistered(t.Context())
		require.Error(t, err)
		require.True(t, framework.IsRefusal(err), "%v", err)
		<-n.Done()
		require.Error(t, n.Err())
	})
}

func TestTTLNodesThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for name, opts := range map[string][]nodes.Option{
			"no time":    {nodes.WithTTL(0)},
			"too short":  {nodes.WithTTL(time.Millisecond)},
			"too long":   {nodes.WithTTL(100 * 365 * 24 * time.Hour)},
			"mode":       {nodes.WithTTL(time.Minute), nodes.WithMode(framework.Persistent)},
			"protection": {nodes.WithTTL(time.Minute), nodes.WithProtection()},
		} {
			_, err := nodes.NewPersistentNode(c, "/a", nil, opts...)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
	})
}

// The time to live counts from the request that touches the node, and not from the
// answer: the server counts from some moment between.
func TestTTLCountsFromTheRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		begun := time.Now()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/a/touch", Do: zktest.DelayReply(3 * time.Second)})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/a/touch", After: 1, Times: -1, Do: zktest.DelayRequest(time.Hour)})
		n := startTTL(t, c, "/a", "data", 5*time.Second)
		_, err := n.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		time.Sleep(time.Until(begun.Add(5*time.Second + 100*time.Millisecond)))
		_, there := n.Registration()
		require.False(t, there)
	})
}
