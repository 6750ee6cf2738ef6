package framework_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/zktest"
)

// readTwo reads two nodes with one request.
func readTwo(t *testing.T, c *framework.Client) error {
	_, _, err := insider.Of(c).MultiRead(t.Context(), "/", "/none")
	return err
}

// settled lets the client have its connection again.
func settled(t *testing.T, c *framework.Client) {
	t.Helper()
	synctest.Wait()
	require.NoError(t, c.Sync(t.Context(), "/"))
}

// ZooKeeper 3.5 ends the connection at a multiRead. So the client first has to
// see something that only newer servers do, and each connection has to see that
// for itself.
func TestMultiReadIsSentOnlyToServersThatShowThatTheyKnowIt(t *testing.T) {
	watched := func(t *testing.T, srv *zktest.Server, c *framework.Client) { mustWatch(t, c, "/").Close() }
	told := func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		_ = srv.Delete("/n") // of the connection before
		_, _, w, err := c.ExistsW(t.Context(), "/n")
		require.NoError(t, err)
		require.NoError(t, srv.Create("/n", nil))
		_, err = w.Wait(t.Context())
		require.NoError(t, err)
	}
	nothing := func(*testing.T, *zktest.Server, *framework.Client) {}
	type proof func(*testing.T, *zktest.Server, *framework.Client)
	for name, c := range map[string]struct {
		version       zktest.Version
		shows         proof
		sent, probing bool
	}{
		"3.9, which passes the probe":           {zktest.Version393, nothing, true, true},
		"3.9, which has set a persistent watch": {zktest.Version393, watched, true, false},
		"3.9, which has told of an event":       {zktest.Version393, told, true, false},
		"3.8, which has set a persistent watch": {zktest.Version380, watched, true, false},
		"3.8, which has told of an event":       {zktest.Version380, told, false, true},
		"3.8, without anything":                 {zktest.Version380, nothing, false, true},
		"3.5, which has told of an event":       {zktest.Version3510, told, false, true},
		"3.5, without anything":                 {zktest.Version3510, nothing, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t, zktest.WithVersion(c.version))
				client := newClient(t, srv)
				for range 2 { // connections
					require.NoError(t, client.WaitConnected(t.Context()))
					settled(t, client)
					c.shows(t, srv, client)
					settled(t, client)
					srv.ClearRequests()
					for range 3 {
						err := readTwo(t, client)
						require.Equal(t, c.sent, err == nil, "%v", err)
						require.Equal(t, !c.sent, framework.IsRefusal(err))
					}
					probes, sent := 0, 0
					if c.probing {
						probes = 1
					}
					if c.sent {
						sent = 3
					}
					require.Equal(t, probes, srv.CountRequests(zktest.OpRemoveWatches), "probes")
					require.Equal(t, sent, srv.CountRequests(zktest.OpMultiRead))
					require.Equal(t, 1, srv.Connections())
					srv.CutAll()
				}
			})
		})
	}
}

// The next connection may lead to an older server.
func TestProofThatAServerKnowsMultiReadIsOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newer, older := zktest.Start(t), zktest.Start(t, zktest.WithVersion(zktest.Version3510))
		at := newer
		c, err := framework.New(newer.Addr(), framework.WithSessionTimeout(sessionTimeout),
			framework.WithDialer(func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
				return at.Dialer()(ctx, network, at.Addr())
			}))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, readTwo(t, c))
		at = older
		newer.CutAll()
		time.Sleep(time.Minute)
		settled(t, c)
		require.True(t, framework.IsRefusal(readTwo(t, c)))
		require.Zero(t, older.CountRequests(zktest.OpMultiRead))
		require.Equal(t, 1, older.Connections())
	})
}

// A multiRead that is lost says nothing of others, and is not repeated.
func TestMultiReadThatIsLostWithAGoodConnectionEndsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for range 10 {
			require.NoError(t, readTwo(t, c))
			lost := srv.Inject(zktest.Rule{Op: zktest.OpMultiRead, Do: zktest.DropReply()})
			err := readTwo(t, c)
			require.True(t, framework.IsConnectionError(err), "%v", err)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			require.Equal(t, 1, lost.Hits())
		}
		require.NoError(t, readTwo(t, c))
	})
}
