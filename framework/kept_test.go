package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

func keepUntil(c *framework.Client, n framework.Created, in time.Duration) (takeBack func()) {
	return insider.Of(c).KeepUntil(n.Session.ID(), n.Path, time.Now().Add(in))
}

// The session of a closed client stays for the sake of one node, for its timeout
// from Close. All others go at once.
//
// Promise: Close leaves a node that is to be kept until its time is over.
func TestCloseLeavesNodesThatAreKept(t *testing.T) {
	for name, trouble := range map[string]func(srv *zktest.Server){
		"connected":             func(*zktest.Server) {},
		"the connection is cut": func(srv *zktest.Server) { srv.CutAll() },
		"the server is back in half a second": func(srv *zktest.Server) {
			srv.Stop()
			time.AfterFunc(time.Second/2, func() { _ = srv.Restart() })
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv)
			keepUntil(c, mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral)), time.Hour)
			view, err := c.Namespace("ns")
			require.NoError(t, err)
			keepUntil(view, mustCreate(t, view, "/kept", "", framework.WithMode(framework.Ephemeral), framework.WithParents()), time.Hour)
			mustCreate(t, c, "/other", "", framework.WithMode(framework.Ephemeral))
			time.Sleep(2 * time.Second) // the last ping is a while ago
			trouble(srv)
			require.LessOrEqual(t, closing(t, c), time.Second, name)
			synctest.Wait()
			require.Zero(t, srv.Stats().Connections, name)
			_, there := srv.Node("/other")
			require.False(t, there, name)

			time.Sleep(sessionTimeout - time.Second)
			for _, path := range []string{"/kept", "/ns/kept"} {
				_, there = srv.Node(path)
				require.True(t, there, name)
			}
			time.Sleep(2 * time.Second)
			require.Empty(t, srv.Sessions(), name)
		})
	}
}

// Of a request that is under way, nobody knows what it has made.
func TestCloseLeavesNothingOfARequestUnderWay(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		keepUntil(c, mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral)), time.Hour)
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(sessionTimeout)})
		created := make(chan error, 1)
		go func() {
			_, err := c.Create(context.Background(), "/n", nil, framework.WithMode(framework.Ephemeral))
			created <- err
		}()
		synctest.Wait()
		require.Less(t, closing(t, c), time.Second)
		require.ErrorIs(t, <-created, framework.ErrClosed)
		synctest.Wait()
		require.Equal(t, []string{"kept", "zookeeper"}, srv.Children("/"))
	})
}

// Somebody has deleted a node of the client's, and another client has made it anew.
//
// Promise: Close that keeps a node lists its nodes again if the connection breaks meanwhile.
func TestCloseThatKeepsANodeDeletesNoneOfAnotherClient(t *testing.T) {
	for name, trouble := range map[string]func(srv *zktest.Server){
		"connected":             func(*zktest.Server) {},
		"the connection is cut": func(srv *zktest.Server) { srv.CutAll() },
		"the server goes away before it lists the nodes": func(srv *zktest.Server) {
			const getEphemerals zktest.Op = 103
			srv.Inject(zktest.Rule{Optional: true, Op: getEphemerals, Times: 1, Do: zktest.DropRequest()})
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv)
			keepUntil(c, mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral)), time.Hour)
			mustCreate(t, c, "/own", "", framework.WithMode(framework.Ephemeral))
			mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
			require.NoError(t, srv.Delete("/n"))
			mustCreate(t, another(t, srv), "/n", "", framework.WithMode(framework.Ephemeral))
			trouble(srv)
			require.Less(t, closing(t, c), time.Second, name)
			synctest.Wait()
			require.Equal(t, []string{"kept", "n", "zookeeper"}, srv.Children("/"), name)
		})
	}
}

// Close deletes nodes at a server that lags behind the server that created them.
//
// Promise: Close that keeps a node deletes the others even at a server that lags.
func TestCloseAtALaggingServerLeavesOnlyTheNodesThatAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		behind := ens.Followers()[0]
		behind.RefuseConnections(true)
		c, err := framework.New(ens.ConnectString(), framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(sessionTimeout))
		require.NoError(t, err)
		keepUntil(c, mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral)), time.Hour)
		require.NoError(t, zkinside.Of(ens).AwaitAgreement(t.Context()))
		require.NoError(t, behind.Lag(300*time.Millisecond))
		mustCreate(t, c, "/other", "", framework.WithMode(framework.Ephemeral))
		for _, m := range ens.Members() {
			m.RefuseConnections(m != behind)
		}
		require.Less(t, closing(t, c), time.Second)
		require.NoError(t, behind.Lag(0))
		require.NoError(t, zkinside.Of(ens).AwaitAgreement(t.Context()))
		require.Equal(t, []string{"kept", "zookeeper"}, behind.Children("/"))
	})
}

func TestCloseEndsASessionThatNeedNotStay(t *testing.T) {
	for name, keep := range map[string]func(c *framework.Client, n framework.Created){
		"taken back":        func(c *framework.Client, n framework.Created) { keepUntil(c, n, time.Hour)() },
		"the time is over":  func(c *framework.Client, n framework.Created) { keepUntil(c, n, time.Minute); time.Sleep(time.Minute) },
		"it was never kept": func(*framework.Client, framework.Created) {},
		"the node is gone": func(c *framework.Client, n framework.Created) {
			keepUntil(c, n, time.Hour)
			_ = c.Delete(context.Background(), n.Path, framework.AnyVersion)
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv)
			keep(c, mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral)))
			require.Zero(t, closing(t, c), name)
			synctest.Wait()
			require.Empty(t, srv.Sessions(), name)
		})
	}
}

// A function that is called after an interruption may keep a node, also if the client
// is closed as soon as the interruption is seen. It replaces what was kept before.
func TestCloseWaitsForThoseWhoKeepANodeAfterAnInterruption(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		node := mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
		before := keepUntil(c, node, time.Minute)
		trusted := node.Session.Trusted(state.StandardPolicy)
		node.Session.AfterTrust(trusted, func() {
			keepUntil(c, node, time.Hour)
			before()
		})
		srv.CutAll()
		<-trusted.Done()
		closing(t, c)
		_, there := srv.Node("/n")
		require.True(t, there)
	})
}
