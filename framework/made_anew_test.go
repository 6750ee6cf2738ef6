package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// versionedWrites are all writes that look at the version of /n to find out
// what has become of them. Each asks for version 0.
var versionedWrites = map[string]struct {
	op  zktest.Op
	do  func(t *testing.T, c *framework.Client) error
	was func(srv *zktest.Server) int // how often the node has been written
}{
	"set": {zktest.OpSetData, func(t *testing.T, c *framework.Client) error {
		_, err := c.Set(t.Context(), "/n", []byte("new"), 0)
		return err
	}, versionOf},
	"create or set": {zktest.OpSetData, func(t *testing.T, c *framework.Client) error {
		_, err := c.Create(t.Context(), "/n", []byte("new"), framework.WithOverwrite(0))
		return err
	}, versionOf},
	"set of an ACL": {zktest.OpSetACL, func(t *testing.T, c *framework.Client) error {
		_, err := c.SetACL(t.Context(), "/n", zk.WorldACL(zk.PermAll), 0)
		return err
	}, func(srv *zktest.Server) int {
		node, _ := srv.Node("/n")
		return int(node.Stat.Aversion)
	}},
	"transaction": {zktest.OpMulti, func(t *testing.T, c *framework.Client) error {
		_, err := c.Transaction(t.Context(), framework.SetOp("/n", []byte("new"), 0), framework.CheckOp("/", framework.AnyVersion))
		return err
	}, versionOf},
}

func versionOf(srv *zktest.Server) int {
	node, _ := srv.Node("/n")
	return int(node.Stat.Version)
}

// Somebody deletes the node after the write, and makes it anew. The new node has
// the old version, but it tells nothing of the write, which must not be applied
// to it as well.
func TestWriteOfAVersionIsNotAppliedToANodeThatWasMadeAnew(t *testing.T) {
	for name, write := range versionedWrites {
		for loss, fault := range map[string]zktest.Action{"request": zktest.DropRequest(), "reply": zktest.DropReply()} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "old")
				srv.Inject(zktest.Rule{Op: write.op, Do: zktest.All(fault, zktest.CallAfter(func(zktest.Request) {
					require.NoError(t, srv.Delete("/n"))
					require.NoError(t, srv.Create("/n", []byte("theirs")))
				}))})
				err := write.do(t, c)
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "%s, %s", name, loss)
				require.Zero(t, write.was(srv), "%s, %s", name, loss)
			})
		}
	}
}

// The client has never read the node, but what it knows of is newer. So the node
// was there when the write was sent, and tells its outcome.
func TestWriteOfAVersionIsRepeatedIfTheNodeIsOlder(t *testing.T) {
	for name, write := range versionedWrites {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			require.NoError(t, srv.Create("/n", []byte("old")))
			_, _, err := c.Exists(t.Context(), "/another")
			require.NoError(t, err)
			srv.Inject(zktest.Rule{Op: write.op, Do: zktest.DropRequest()})
			require.NoError(t, write.do(t, c), name)
			require.Equal(t, 1, write.was(srv), name)
		})
	}
}

// The next session knows what the last one has seen.
func TestWriteOfAVersionIsRepeatedInTheNextSession(t *testing.T) {
	for name, write := range versionedWrites {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "old")
			old := c.SessionID()
			srv.Inject(zktest.Rule{Op: write.op, Do: zktest.All(zktest.DropRequest(),
				zktest.Call(func(zktest.Request) { srv.Session(old).Expire() }))})
			require.NoError(t, write.do(t, c), name)
			require.NotEqual(t, old, c.SessionID())
			require.Equal(t, 1, write.was(srv), name)
		})
	}
}

// A plain ephemeral create loses its reply, and then its session. The client
// gives the session up before the server ends it, so the next session finds the
// node there, or has no right to make another.
func TestPlainEphemeralWhoseSessionIsLostIsOfUnknownOutcome(t *testing.T) {
	for name, next := range map[string]struct {
		code zktest.Action
		err  error
	}{
		"node exists": {zktest.DelayRequest(0), zk.ErrNodeExists},
		"no rights":   {zktest.Fail(zktest.ErrNoAuth), zk.ErrNoAuth},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			old := c.SessionID()
			srv.Session(old).Replace()
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, After: 1, Do: next.code})
			_, err := c.Create(t.Context(), "/e", nil, framework.WithMode(framework.Ephemeral))
			require.ErrorIs(t, err, next.err, name)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			node, there := srv.Node("/e")
			require.True(t, there)
			require.Equal(t, old, node.Stat.EphemeralOwner)
			require.NotEqual(t, old, c.SessionID())
		})
	}
}

// The look finds no node, as somebody has deleted ours. Another one is refused.
func TestPlainEphemeralThatSomebodyHasDeletedIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.DropReply(),
			zktest.CallAfter(func(zktest.Request) { require.NoError(t, srv.Delete("/e")) }))})
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, After: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err := c.Create(t.Context(), "/e", nil, framework.WithMode(framework.Ephemeral))
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}

// If the node of the lost session is gone, the next one makes another.
func TestPlainEphemeralIsMadeInTheNextSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		old := c.SessionID()
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.DropReply(),
			zktest.CallAfter(func(zktest.Request) { srv.Session(old).Expire() }))})
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		require.NotEqual(t, old, n.Session.ID())
		time.Sleep(time.Minute)
		node, _ := srv.Node("/e")
		require.Equal(t, n.Czxid, node.Stat.Czxid)
	})
}

// The client has not seen the node before. But the node is as the write leaves
// it, so the write was applied.
func TestWriteOfAVersionToANewNodeIsFoundOut(t *testing.T) {
	for name, write := range versionedWrites {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			require.NoError(t, srv.Create("/n", []byte("old")))
			srv.Inject(zktest.Rule{Op: write.op, Do: zktest.DropReply()})
			require.NoError(t, write.do(t, c), name)
			require.Equal(t, 1, write.was(srv), name)
		})
	}
}
