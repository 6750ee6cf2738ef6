package framework_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The situations of a rolling restart: Close finds no connection, or one that
// ends at that moment, and a server that can be reached again soon.
func TestCloseWithoutAConnectionComesBackToEndTheSession(t *testing.T) {
	for name, trouble := range map[string]func(srv *zktest.Server){
		"the connection is cut":               func(srv *zktest.Server) { srv.CutAll() },
		"the cut has been noticed":            func(srv *zktest.Server) { srv.CutAll(); synctest.Wait() },
		"the client is about to come back":    func(srv *zktest.Server) { outage(srv, 20*time.Millisecond) },
		"the server restarts":                 func(srv *zktest.Server) { srv.Stop(); srv.Restart() },
		"the server is back in half a second": func(srv *zktest.Server) { srv.Stop(); time.AfterFunc(time.Second/2, func() { _ = srv.Restart() }) },
		"the handshake of the return is silent": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.Blackhole()})
			srv.CutAll()
			synctest.Wait()
		},
		"the connection is cut by the close": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zkinside.OpCloseSession, Do: zktest.DropRequest()})
		},
		"the answer to the close is lost": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zkinside.OpCloseSession, Do: zktest.DropReply()})
		},
		"the close is not answered": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zkinside.OpCloseSession, Do: zktest.Blackhole()})
		},
		"the first return is not answered": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zkinside.OpCloseSession, Times: 2, Do: zktest.DropRequest()})
			srv.CutAll()
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv)
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			srv.Inject(zktest.Rule{Op: zkinside.OpCloseSession, Times: -1, Do: zktest.Call(func(zktest.Request) {
				require.ErrorIs(t, context.Cause(n.Session.Context()), framework.ErrClosed, "%s: holders are told first", name)
			})})
			trouble(srv)
			require.LessOrEqual(t, closing(t, c), time.Second, name)
			synctest.Wait()
			require.Empty(t, srv.Sessions(), name)
			require.Empty(t, srv.Tree())
			require.Zero(t, srv.Stats().Connections, name)
		})
	}
}

// The server of the connection hangs, the others do not.
func TestCloseEndsTheSessionAtAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		c, err := framework.New(ens.ConnectString(), framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(sessionTimeout))
		require.NoError(t, err)
		require.NoError(t, c.WaitConnected(t.Context()))
		ens.Members()[zkinside.Of(ens).MemberOf(c.SessionID())-1].BlackholeAll()
		require.LessOrEqual(t, closing(t, c), time.Second)
		time.Sleep(time.Second)
		require.Empty(t, ens.Leader().Sessions())
	})
}

// The nodes of a lost session belong to holders who have only just been told.
func TestCloseDoesNotEndALostSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		srv.RefuseConnections(true)
		srv.CutAll()
		<-n.Session.Context().Done()
		srv.RefuseConnections(false)
		require.Less(t, closing(t, c), sessionTimeout-trusted)
		synctest.Wait()
		_, there := srv.Node("/e")
		require.True(t, there)
	})
}

func TestRefusedCredentialsLeaveNoSessions(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithAuth("nonsense", nil))
		for range 100 {
			time.Sleep(time.Second)
			synctest.Wait()
			require.Empty(t, srv.Sessions())
		}
		require.NoError(t, c.Close())
		require.Empty(t, srv.Sessions())
	})
}

// A session that was granted, and the connection hangs before it can be used.
func TestSessionOfAHandshakeThatFailedIsEnded(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Do: zktest.Blackhole()})
		c := newClient(t, srv, alice)
		require.NoError(t, c.WaitConnected(within(t, time.Minute)))
		require.Len(t, srv.Sessions(), 1)

		srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Do: zktest.Blackhole()})
		c = unclosed(t, srv, alice)
		time.Sleep(time.Second)
		require.Len(t, srv.Sessions(), 2)
		require.NoError(t, c.Close())
		require.Len(t, srv.Sessions(), 1)
	})
}

// twoServers is a network of a server that answers as it should and one that
// is reached under the name "bad".
type twoServers struct {
	*network
	bad *zktest.Server
}

func (n *twoServers) dial(ctx context.Context, nw, address string) (net.Conn, error) {
	if address == "bad:2181" {
		return n.bad.Dialer()(ctx, nw, address)
	}
	return n.network.dial(ctx, nw, address)
}

// One server that does not know our scheme must not fail everything.
func TestOneServerThatRefusesCredentialsIsPassedOver(t *testing.T) {
	for range 20 { // for both orders
		onNetwork(t, func(t *testing.T, n *network) {
			two := &twoServers{n, zktest.Start(t)}
			two.bad.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
			c := n.client(t, "bad,good", alice, framework.WithDialer(two.dial))
			_, _, err := c.Get(t.Context(), "/")
			require.NoError(t, err)
			require.Empty(t, two.bad.Sessions())

			n.setAlive()
			n.srv.CutAll()
			_, _, err = c.Get(t.Context(), "/")
			require.Error(t, err, "now it is the only one")
			require.False(t, framework.IsConnectionError(err), "%v", err)
			require.ErrorContains(t, err, "refused the credentials")
		})
	}
}

// While there is a session to lose, there is no time for long pauses.
func TestRefusedCredentialsDoNotCostASession(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, alice)
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for range 5 {
			time.Sleep(time.Minute)
			srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: 4, Do: zktest.Fail(zkinside.ErrAuthFailed)})
			srv.CutAll()
			time.Sleep(3 * time.Second)
			require.True(t, c.State().IsConnected())
			require.NoError(t, s.Context().Err())
		}
	})
}
