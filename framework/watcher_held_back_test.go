package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// opening opens a Watcher in the background, and delivers it when it is there.
func opening(t *testing.T, c *framework.Client, path string, opts ...framework.WatcherOption) <-chan *framework.Watcher {
	opened := make(chan *framework.Watcher, 1)
	go func() {
		w, err := c.NewWatcher(t.Context(), path, opts...)
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	return opened
}

// A read waits for the answer about a persistent watch, and the connection ends
// before that. The next one is waited for as by every operation: as long as the
// connection timeout allows, or not at all.
func TestReadBehindAPersistentWatchIsNotWithoutAConnectionForLonger(t *testing.T) {
	for name, patience := range map[string]time.Duration{"waits": time.Second, "while connected": 0} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c := newClient(t, srv, framework.WithConnectionTimeout(time.Second))
				require.NoError(t, srv.Create("/n", nil))
				mustWatch(t, c, "/n")
				srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Hour)})
				srv.CutAll()
				synctest.Wait()
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				ctx := t.Context()
				if patience == 0 {
					ctx = framework.Extend(c).WhileConnected(ctx, s.Trusted(state.StandardPolicy))
				}
				done := make(chan error, 1)
				go func() {
					_, _, _, err := c.GetW(ctx, "/n")
					done <- err
				}()
				synctest.Wait()
				srv.RefuseConnections(true)
				srv.CutAll()
				begin := time.Now()
				require.ErrorIs(t, <-done, framework.ErrNotConnected)
				require.Equal(t, patience, time.Since(begin))
			})
		})
	}
}

// The reader of a persistent watch has gone while the server had too much to do
// for that. A standard watch on the same path does not need it.
func TestThrottledWatchWithoutReadersIsAskedForNoMore(t *testing.T) {
	for _, kind := range []string{"data", "children"} {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				w := mustWatch(t, c, "/n")
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				throttled := srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
				srv.CutAll()
				time.Sleep(10 * time.Second)
				w.Close()
				time.Sleep(time.Second)
				before := throttled.Hits()
				time.Sleep(time.Hour)
				require.Equal(t, before, throttled.Hits())

				throttled.Remove()
				require.False(t, fired(standard))
				require.NoError(t, srv.Create("/n/c", nil))
				require.NoError(t, srv.Set("/n", nil))
				require.True(t, fired(standard))
				synctest.Wait()
				srv.AssertNoWatches(t)
			})
		})
	}
}

// A recursive watch is asked for twice: for its reader, and after the pause of the
// one that is not recursive. The server agrees to the first request alone, and so
// it has the watch.
func TestRecursiveWatchThatIsRefusedBehindItselfIsThere(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrThrottled)})
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, After: 1, Do: zktest.DelayReply(time.Second)})
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, After: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
		opened := opening(t, c, "/n")
		synctest.Wait()
		tree := mustWatch(t, c, "/n", framework.WithRecursion())
		node := <-opened
		time.Sleep(10 * time.Second)
		require.Equal(t, 3, srv.CountRequests(zktest.OpAddWatch))
		node.Close()
		changeEverything(t, srv)
		require.Equal(t, toldOfTree, unread(t, tree))
		tree.Close()
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}
