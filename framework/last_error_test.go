package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

const throttled = -127

// persistent runs a test in virtual time with a client that tries again until
// the context ends. The pauses of the default are random, and its last attempt
// may come before that.
func persistent(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client)) {
	t.Helper()
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithRetry(retry.Forever(300*time.Millisecond)))
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c)
	})
}

// The context ends while an answer is awaited, or while the client waits for the
// next attempt.
func TestOperationThatGivesUpNamesTheLastError(t *testing.T) {
	for name, next := range map[string]zktest.Action{
		"the next attempt is not answered":   zktest.Blackhole(),
		"the next attempt fails in this way": zktest.Fail(zkinside.ErrThrottled),
	} {
		t.Run(name, func(t *testing.T) {
			persistent(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(zkinside.ErrThrottled)})
				srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, After: 1, Do: next})
				_, _, err := c.Get(within(t, 2*time.Second), "/")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				code, ok := framework.ServerCode(err)
				require.True(t, ok, "%v", err)
				require.EqualValues(t, throttled, code)
			})
		})
	}
}

// Those who wait for a recipe know nothing of its requests.
func TestOnErrorReportsErrorsThatAreRetried(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var told []error
		ctx := framework.Extend(c).OnError(t.Context(), func(err error) { told = append(told, err) })
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 2, Do: zktest.Fail(zkinside.ErrThrottled)})
		_, _, err := c.Get(ctx, "/")
		require.NoError(t, err)
		require.Len(t, told, 2)
		var op *framework.OpError
		require.ErrorAs(t, told[0], &op)
		require.Equal(t, framework.OpError{Op: "get", Path: "/", Err: &framework.ServerError{Code: throttled}}, *op)
		_, _, err = c.Get(ctx, "/missing")
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.Len(t, told, 2, "a refusal is not retried")
	})
}

// The client makes the next session at once, but after a session that was lost
// soon, it pauses.
//
// Promise: SessionID is 0 between the loss of a session and the next session.
func TestSessionIDIsZeroBetweenSessions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		expire := func(until func(state.State) bool) {
			transitions := c.States(within(t, time.Minute))
			srv.Session(c.SessionID()).Expire()
			for s := range transitions {
				if until(s) {
					return
				}
			}
		}
		expire(state.State.IsConnected)
		require.NotZero(t, c.SessionID())
		expire(func(s state.State) bool { return s == state.Lost })
		require.Equal(t, state.Lost, c.State())
		require.Zero(t, c.SessionID())
	})
}

// While the server has too much to do to set a persistent watch again after a
// reconnect, the reader receives no change, and can ask why.
func TestWatcherTellsWhyItIsNotSetAgain(t *testing.T) {
	persistent(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		w := mustWatch(t, c, "/n")
		require.NoError(t, w.LastError())
		rule := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)})
		srv.CutAll()
		time.Sleep(time.Second)
		require.Empty(t, unread(t, w))
		_, caughtUp := w.CaughtUp()
		require.False(t, caughtUp)
		require.ErrorIs(t, w.LastError(), &framework.ServerError{Code: throttled})
		var op *framework.OpError
		require.ErrorAs(t, w.LastError(), &op)
		require.Equal(t, "/n", op.Path)

		rule.Remove()
		time.Sleep(time.Second)
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		require.NoError(t, w.LastError())
	})
}
