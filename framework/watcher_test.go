package framework_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// eachVersion runs a test in virtual time with a server that has the watches of
// ZooKeeper 3.9, and with a server that has the watches of 3.8.
func eachVersion(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client)) {
	t.Helper()
	for name, opts := range map[string][]zktest.Option{"3.9": nil, "3.8": {zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t, opts...)
				c := newClient(t, srv)
				require.NoError(t, c.WaitConnected(t.Context()))
				test(t, srv, c)
			})
		})
	}
}

func mustWatch(t *testing.T, c *framework.Client, path string, opts ...framework.WatcherOption) *framework.Watcher {
	t.Helper()
	w, err := c.NewWatcher(t.Context(), path, opts...)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// unread returns the events that a Watcher has for its reader, as text.
func unread(t *testing.T, w *framework.Watcher) []string {
	t.Helper()
	synctest.Wait()
	var list []string
	for {
		ev, ok, err := w.Poll()
		require.NoError(t, err)
		if !ok {
			return list
		}
		list = append(list, told(ev))
	}
}

func told(ev framework.WatchEvent) string {
	if ev.Reset {
		return "reset " + ev.Path
	}
	name := map[zk.EventType]string{
		zk.EventNodeCreated: "created", zk.EventNodeDeleted: "deleted",
		zk.EventNodeDataChanged: "changed", zk.EventNodeChildrenChanged: "children",
	}[ev.Type]
	return name + " " + ev.Path
}

// changeEverything makes one change of each kind to /n and below.
func changeEverything(t *testing.T, srv *zktest.Server) {
	t.Helper()
	require.NoError(t, srv.Create("/n", nil))
	require.NoError(t, srv.Set("/n", []byte("x")))
	require.NoError(t, srv.Create("/n/c", nil))
	require.NoError(t, srv.Create("/n/c/d", nil))
	require.NoError(t, srv.Set("/n/c", []byte("x")))
	require.NoError(t, srv.Create("/nn", nil))
	require.NoError(t, srv.Delete("/n/c/d"))
	require.NoError(t, srv.Delete("/n/c"))
	require.NoError(t, srv.Delete("/n"))
	require.NoError(t, srv.Delete("/nn"))
}

var (
	toldOfNode = []string{"created /n", "changed /n", "children /n", "children /n", "deleted /n"}
	toldOfTree = []string{
		"created /n", "changed /n", "created /n/c", "created /n/c/d", "changed /n/c",
		"deleted /n/c/d", "deleted /n/c", "deleted /n",
	}
)

func TestWatcherReceivesEveryChange(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		node, tree := mustWatch(t, c, "/n"), mustWatch(t, c, "/", framework.WithRecursion())
		changeEverything(t, srv)
		require.Equal(t, toldOfNode, unread(t, node))
		want := append(append([]string{}, toldOfTree[:5]...), "created /nn")
		want = append(append(want, toldOfTree[5:]...), "deleted /nn")
		require.Equal(t, want, unread(t, tree))
		node.Close()
		tree.Close()
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

func TestWatchEventTellsItsZxidIfTheServerDoes(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		w := mustWatch(t, c, "/n")
		require.NoError(t, srv.Create("/n", nil))
		ev, err := w.Next(within(t, time.Second))
		require.NoError(t, err)
		if ev.Zxid != 0 {
			require.Equal(t, srv.Stats().Zxid, ev.Zxid)
		}
		require.Equal(t, t.Name()[len(t.Name())-3:] == "3.9", ev.Zxid != 0)
	})
}

func TestWatchBeginsWithAResetWhenTheWatchIsSet(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var seen []string
		for ev, err := range c.Watch(t.Context(), "/n") {
			require.NoError(t, err)
			seen = append(seen, told(ev))
			if len(seen) == 1 {
				require.NotEmpty(t, srv.Watches(), "a change from here on is told")
				require.NoError(t, srv.Create("/n", nil))
			}
			if len(seen) == 2 {
				break
			}
		}
		require.Equal(t, []string{"reset /n", "created /n"}, seen)
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

func TestWatchEndsWithItsContextInSilence(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := 0
		for _, err := range c.Watch(within(t, time.Second), "/n") {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 1, n)
		srv.RefuseConnections(true)
		srv.CutAll()
		for range c.Watch(within(t, 5*time.Second), "/n") {
			t.Error("there is no connection")
		}
		require.Empty(t, srv.Watches())
	})
}

func TestErrorsThatEndAWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		path string
		code zktest.Code
		want error
	}{
		"bad path":  {"n", 0, zk.ErrInvalidPath},
		"no rights": {"/n", zktest.ErrNoAuth, zk.ErrNoAuth},
		"too old":   {"/n", zkinside.ErrUnimplemented, &framework.ServerError{Code: -6}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				if tc.code != 0 {
					srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(tc.code)})
				}
				for range 2 {
					n := 0
					for _, err := range c.Watch(t.Context(), tc.path) {
						n++
						var op *framework.OpError
						require.ErrorAs(t, err, &op)
						require.Equal(t, "watch", op.Op)
						require.Equal(t, tc.path, op.Path)
						require.ErrorIs(t, err, tc.want)
					}
					require.Equal(t, 1, n)
				}
			})
		})
	}
}

// A watch that was set may be refused by the server of the next connection.
func TestRefusalAfterAReconnectEndsAWatch(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		w := mustWatch(t, c, "/n")
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(zkinside.ErrUnimplemented)})
		srv.CutAll()
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, &framework.ServerError{Code: -6})
		require.ErrorContains(t, err, "watch /n")
	})
}

// A server that has too much to do is asked again.
func TestWatchIsSetWhenTheServerHasTimeAgain(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: 3, Do: zktest.Fail(zkinside.ErrThrottled)})
		w := mustWatch(t, c, "/n")
		require.NoError(t, srv.Create("/n", nil))
		require.Equal(t, []string{"created /n"}, unread(t, w))
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: 3, Do: zktest.Fail(zkinside.ErrThrottled)})
		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"reset /n"}, unread(t, w))
	})
}

func TestClosedClientEndsItsWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ended := make(chan error, 1)
		go func() {
			for _, err := range c.Watch(t.Context(), "/n") {
				if err != nil {
					ended <- err
				}
			}
		}()
		w := mustWatch(t, c, "/n", framework.WithRecursion())
		synctest.Wait()
		require.NoError(t, c.Close())
		require.ErrorIs(t, <-ended, framework.ErrClosed)
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = c.NewWatcher(t.Context(), "/n")
		require.ErrorIs(t, err, framework.ErrClosed)
		require.Empty(t, srv.Watches())
	})
}

func TestClosedWatcher(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		w := mustWatch(t, c, "/n")
		w.Close()
		w.Close()
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, framework.ErrWatchStopped)
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

func TestAThousandReadersShareOneWatch(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var heard atomic.Int32
		for range 1000 {
			all.Go(func() {
				for ev, err := range c.Watch(ctx, "/n") {
					if err == nil && !ev.Reset {
						heard.Add(1)
					}
				}
			})
		}
		synctest.Wait()
		require.Equal(t, 1, srv.CountRequests(zkinside.OpAddWatch))
		require.Len(t, srv.Watches(), 2, "one, in both tables")
		require.Equal(t, 1, insider.Of(c).Watches())
		require.NoError(t, srv.Create("/n", nil))
		synctest.Wait()
		require.EqualValues(t, 1000, heard.Load())
		require.Equal(t, 1, srv.Stats().Notifications)
		cancel()
		all.Wait()
		synctest.Wait()
		require.Equal(t, 1, srv.CountRequests(zkinside.OpRemoveWatches))
		require.Empty(t, srv.Watches())
	})
}

func TestSlowReaderHoldsUpNobodyAndIsReset(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		slow, quick := mustWatch(t, c, "/n"), mustWatch(t, c, "/n")
		require.NoError(t, srv.Create("/n", nil))
		for i := range 5000 {
			require.NoError(t, srv.Set("/n", fmt.Append(nil, i)))
			ev, err := quick.Next(within(t, time.Second))
			require.NoError(t, err)
			require.False(t, ev.Reset)
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		list := unread(t, slow)
		require.LessOrEqual(t, len(list), 1024)
		require.Equal(t, "reset /n", list[0])
		require.NotContains(t, list[1:], "reset /n")
	})
}

func TestWatchersOfANamespaceHaveItsPaths(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := namespace(t, c, "/n")
		tree, node := mustWatch(t, n, "/", framework.WithRecursion()), mustWatch(t, n, "/c")
		changeEverything(t, srv)
		require.Equal(t, []string{
			"created /", "changed /", "created /c", "created /c/d", "changed /c", "deleted /c/d", "deleted /c", "deleted /",
		}, unread(t, tree))
		require.Equal(t, []string{"created /c", "children /c", "changed /c", "children /c", "deleted /c"}, unread(t, node))
		srv.CutAll()
		time.Sleep(time.Second)
		require.Equal(t, []string{"reset /"}, unread(t, tree))
		require.Equal(t, []string{"reset /c"}, unread(t, node))
	})
}

func TestLastZxidIsTheNewestAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		require.Equal(t, srv.Stats().Zxid, c.LastZxid())
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
		written := c.LastZxid()
		require.Equal(t, srv.Stats().Zxid, written)
		srv.Session(c.SessionID()).Expire()
		time.Sleep(5 * time.Second)
		require.GreaterOrEqual(t, c.LastZxid(), written, "also in the next session")
		require.NoError(t, c.Sync(t.Context(), "/"))
		require.Equal(t, srv.Stats().Zxid, c.LastZxid())
	})
}
