package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A server stalls with a write. The client gives its session up, and looks in
// the next one: nothing was written. Then the server hands the write on, and the
// leader, which still knows the session, carries it out.

// stall is for how long a server stalls.
const stall = time.Second

// stallWith makes a server stall with the next request, while its client gets
// another session.
func stallWith(srv *zktest.Server, c *framework.Client, op zktest.Op, do ...zktest.Action) {
	session := c.SessionID()
	replace := zktest.Call(func(zktest.Request) { zkinside.Of(srv).ReplaceSession(session) })
	srv.Inject(zktest.Rule{Optional: true, Op: op, Do: zktest.All(append(do, zkinside.HoldRequest(stall).(zktest.Action), replace)...)})
}

// late is a stall until the client has looked, and has sent the request again.
func late(srv *zktest.Server, c *framework.Client, op zktest.Op) {
	stallWith(srv, c, op)
	after := 1
	if op == zktest.OpMulti {
		after++ // the look begins with one
	}
	srv.Inject(zktest.Rule{Optional: true, Op: op, After: after, Do: zktest.DelayRequest(2 * stall)})
}

// The second node has another id, and the first one does not stay.
//
// Promise: A protected create that a lost session applies late makes no second node.
func TestLateProtectedCreateOfALostSessionMakesNoSecondNode(t *testing.T) {
	for _, mode := range []framework.Mode{framework.Persistent, framework.PersistentSequential} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			require.NoError(t, srv.Create("/p", nil))
			late(srv, c, zktest.OpCreate)
			n := mustCreate(t, c, "/p/n", "", framework.WithMode(mode), framework.WithProtection())
			require.Equal(t, 2, srv.CountRequests(zktest.OpCreate), "the late one was made, too")
			time.Sleep(2 * sessionTimeout)
			require.Equal(t, []string{n.Path[len("/p/"):]}, srv.Children("/p"))
		})
	}
}

// Promise: A protected create that is applied after its caller gave up leaves no node.
func TestLateProtectedCreateThatWasGivenUpLeavesNoNode(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/p", nil))
		ctx, cancel := context.WithCancel(t.Context())
		stallWith(srv, c, zktest.OpCreate, zktest.Call(func(zktest.Request) { cancel() }))
		_, err := c.Create(ctx, "/p/n", nil, framework.WithProtection())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(stall / 2)
		require.NotZero(t, srv.CountRequests(zktest.OpGetChildren), "the clean-up has looked")
		require.Empty(t, srv.Children("/p"))
		time.Sleep(stall)
		require.Equal(t, 1, srv.CountRequests(zktest.OpCreate), "it has come")
		time.Sleep(2 * sessionTimeout)
		require.Empty(t, srv.Children("/p"))
		srv.ClearRequests()
		time.Sleep(time.Hour)
		require.Zero(t, srv.CountRequests(zktest.OpAny), "nobody looks any more")
	})
}

// An ephemeral node of the lost session ends with it. So the outcome of an
// acquire is known, and there is no more to look for.
func TestLateEphemeralOfALostSessionMakesNoDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/p", nil))
		stallWith(srv, c, zktest.OpCreate)
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, After: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err := c.Create(t.Context(), "/p/n-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(2 * sessionTimeout)
		require.Empty(t, srv.Children("/p"))
		require.Equal(t, 1, srv.CountRequests(zktest.OpGetChildren), "one look of the clean-up")
	})
}
