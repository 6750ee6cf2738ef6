package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

func protectedSeq() []framework.CreateOption {
	return []framework.CreateOption{framework.WithMode(framework.EphemeralSequential), framework.WithProtection()}
}

func TestReadGivesUpWhenThePolicyDoes(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithRetry(retry.Exponential(time.Second, time.Second, 2)))
		require.NoError(t, c.WaitConnected(t.Context()))
		inj := srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DropRequest()})
		_, _, err := c.Get(t.Context(), "/n")
		require.True(t, framework.IsConnectionError(err), "%v", err)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.Equal(t, 3, inj.Hits())
		require.ErrorContains(t, err, "(after 3 attempts)")
	})
}

// The ways in which one Create can be disturbed, as the requests it makes come.
var createFaults = map[string]func(srv *zktest.Server){
	"request lost":  func(srv *zktest.Server) { srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropRequest()}) },
	"reply lost":    func(srv *zktest.Server) { srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()}) },
	"request muted": func(srv *zktest.Server) { srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Blackhole()}) },
	"reply muted":   func(srv *zktest.Server) { srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.BlackholeReply()}) },
	"request lost twice": func(srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 2, Do: zktest.DropRequest()})
	},
	"request lost, then reply lost": func(srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropRequest()})
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, After: 1, Do: zktest.DropReply()})
	},
	"reply lost, and the transaction": func(srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 2, Do: zktest.DropRequest()})
	},
	"reply lost, and the search": func(srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpGetChildren, Times: 2, Do: zktest.DropReply()})
	},
	"reply lost, and the reading of the node": func(srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpGetData, Do: zktest.DropReply()})
	},
}

// Promise: A protected create makes exactly one node, whatever request or reply is lost.
func TestProtectedCreateMakesExactlyOneNodeWhateverIsLost(t *testing.T) {
	for name, inject := range createFaults {
		for _, mode := range []framework.Mode{
			framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential, framework.Container,
		} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/p", "")
				inject(srv)
				n, err := c.Create(t.Context(), "/p/n-", []byte("d"), framework.WithMode(mode), framework.WithProtection())
				require.NoError(t, err, "%s, mode %d", name, mode)
				require.Len(t, srv.Children("/p"), 1, "%s, mode %d", name, mode)
				require.Equal(t, "/p/"+srv.Children("/p")[0], n.Path)
				node, _ := srv.Node(n.Path)
				require.Equal(t, node.Stat.Czxid, n.Czxid)
				require.Equal(t, "d", string(node.Data))
				require.Equal(t, c.SessionID(), n.Session.ID())
			})
		}
	}
}

// CURATOR-498: the search finds a node of the session that is over; it is about
// to vanish and must not be returned.
func TestProtectedEphemeralOfALostSessionIsNotReturned(t *testing.T) {
	for _, mode := range []framework.Mode{framework.Ephemeral, framework.EphemeralSequential} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/p", "")
			old := c.SessionID()
			zkinside.Of(srv).ReplaceSession(old) // and leave it, with its nodes, to its timeout
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			n := mustCreate(t, c, "/p/n-", "", framework.WithMode(mode), framework.WithProtection())
			require.NotEqual(t, old, n.Session.ID())
			node, ok := srv.Node(n.Path)
			require.True(t, ok)
			require.Equal(t, n.Session.ID(), node.Stat.EphemeralOwner)
			require.Equal(t, node.Stat.Czxid, n.Czxid)
			time.Sleep(time.Second)
			require.Equal(t, []string{n.Path[len("/p/"):]}, srv.Children("/p"), "the old one is deleted, long before its session ends")
		})
	}
}

// A persistent node outlives the session that made it, so a new session may
// find it.
func TestProtectedPersistentNodeIsFoundFromTheNextSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/p", "")
		zkinside.Of(srv).ReplaceSession(c.SessionID())
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		n := mustCreate(t, c, "/p/n", "", framework.WithProtection())
		require.Len(t, srv.Children("/p"), 1)
		require.Equal(t, "/p/"+srv.Children("/p")[0], n.Path)
	})
}

func TestNothingTakesALostParentForTheNode(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/a", Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Path: "/a", Do: zktest.DropReply()})
		n := mustCreate(t, c, "/a/b/n", "", framework.WithParents())
		require.Equal(t, "/a/b/n", n.Path)
		node, ok := srv.Node("/a/b/n")
		require.True(t, ok)
		require.Equal(t, node.Stat.Czxid, n.Czxid)
	})
}

func TestConnectionTimeoutBoundsAnOperationWithoutADeadline(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithConnectionTimeout(4*time.Second))
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		for name, call := range everyOperation(c) {
			begin := time.Now()
			err := call(context.Background(), "/n")
			require.ErrorIs(t, err, framework.ErrNotConnected, name)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			require.Equal(t, 4*time.Second, time.Since(begin), name)
		}
	})
}
