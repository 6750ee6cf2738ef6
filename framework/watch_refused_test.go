package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// refusesSetWatches makes a server answer with an error when it is asked to set
// watches again.
func refusesSetWatches(srv *zktest.Server, code zktest.Code) *zktest.Injection {
	return srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.Fail(code)})
}

// loggedClient returns a connected client, and the warnings in its log.
func loggedClient(t *testing.T, srv *zktest.Server, opts ...framework.Option) (c *framework.Client, lines func() []string) {
	t.Helper()
	j := &journal{}
	c = newClient(t, srv, append(opts, j.option())...)
	require.NoError(t, c.WaitConnected(t.Context()))
	return c, func() []string {
		synctest.Wait()
		return j.warnings()
	}
}

// The watches are not there, so the client cannot stay on the connection. An
// answer counts as if the server had hung up.
func TestServersThatRefuseSetWatchesAreWorkedAround(t *testing.T) {
	for code, text := range map[zktest.Code]string{
		zktest.ErrThrottled:     "zk: throttled (-127)",
		zktest.ErrSystem:        "zk: system error (-1)",
		zktest.ErrUnimplemented: "zk: unimplemented (-6)",
		zktest.ErrNoAuth:        "zk: not authenticated",
	} {
		t.Run(text, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c, lines := loggedClient(t, srv)
				require.NoError(t, srv.Create("/n", []byte("old")))
				f := follow(t, c, "/n")
				hits := refusesSetWatches(srv, code)
				changedMeanwhile(t, srv, "/n", "new")
				time.Sleep(10 * time.Second)
				require.NoError(t, c.Sync(within(t, time.Second), "/"))
				data, before := f.seen()
				require.Equal(t, "new", data)
				require.Positive(t, before)
				require.Equal(t, 5, hits.Hits(), "four in a row, and one on a connection that held")
				require.Equal(t, []string{"zookeeper servers refuse to set watches again: " +
					"those who wait for changes look after each reconnect instead " +
					"curator.operation=setWatches curator.request.watches=1 curator.request.size=34 " +
					"curator.connections.ended=4 curator.cause=" + text}, lines())

				f.looksAfterEachReconnect(t, srv, hits)
				require.Len(t, lines(), 1)
			})
		})
	}
}

// A server that had too much to do for a while sets watches again later.
func TestServerThatRefusesSetWatchesForAWhileIsAskedAgain(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := loggedClient(t, srv)
		require.NoError(t, srv.Create("/n", nil))
		f := follow(t, c, "/n")
		srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: 4, Do: zktest.Fail(zktest.ErrThrottled)})
		srv.CutAll()
		time.Sleep(10 * time.Second)
		_, before := f.seen()
		require.Equal(t, 1, before)
		srv.CutAll()
		time.Sleep(10 * time.Second)
		_, unknown := f.seen()
		require.Equal(t, before, unknown)
		require.Len(t, srv.Watches(), 1)
		require.Empty(t, lines())
	})
}

func TestOperationsSayThatSetWatchesIsRefused(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, _ := loggedClient(t, srv, framework.WithRetry(retry.None()))
		require.NoError(t, srv.Create("/n", nil))
		follow(t, c, "/n")
		refusesSetWatches(srv, zktest.ErrThrottled)
		srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.DelayRequest(50 * time.Millisecond)})
		srv.CutAll()
		var all []string
		for begin := time.Now(); time.Since(begin) < 10*time.Second; {
			_, _, err := c.Get(t.Context(), fmt.Sprint("/", len(all)))
			if framework.IsConnectionError(err) {
				all = append(all, err.Error())
				_, answered := framework.ServerCode(err)
				require.False(t, answered, "the answer was to another request")
			}
			time.Sleep(10 * time.Millisecond)
		}
		require.Contains(t, fmt.Sprint(all), "the last 4 connections have ended with this request under way: "+
			"setWatches, 1 watches, 34 bytes, answered with: zk: throttled (-127)")
	})
}

// Looks are made with the same request. Where it is refused, each watch is looked
// at by a read, and the connection goes on.
func TestLookThatIsRefusedIsMadeByReads(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		hits := refusesSetWatches(srv, zktest.ErrSystem)
		time.Sleep(time.Hour)
		require.False(t, fired(w))
		inSilence(t, srv, "/n", func() { require.NoError(t, srv.Set("/n", nil)) })
		ev, err := w.Wait(within(t, untold))
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeDataChanged, ev.Type)
		require.Positive(t, hits.Hits())
		require.Equal(t, 1, srv.Connections())
		require.Equal(t, 1, srv.CountRequests(zktest.OpConnect)-1, "no other connection of this client")
	})
}
