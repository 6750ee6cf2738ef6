//go:build real

package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// The server counts the session's time from its restart, and would keep it. The
// client cannot know that: to it, its nodes may be gone when the time is up.
func TestRealServerLongOutageLosesTheSessionInTime(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	c := realClient(t, srv, chroot(t), shortSessionOptions()...)
	ctx := within(t, stuck)
	es := makeSessionNodes(t, ctx, c, "/long")
	states := c.States(ctx)
	begin := time.Now()
	require.NoError(t, srv.Kill())
	session := es.node.Session
	requireLost(t, session, shortSession)
	require.Greater(t, time.Since(begin), shortSession/2, "not with the connection")
	for kind, w := range es.watches {
		_, err := w.Wait(ctx)
		require.ErrorIs(t, err, framework.ErrSessionLost, kind)
	}

	require.NoError(t, srv.Restart())
	require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, untilConnected(states))
	require.NotEqual(t, session.ID(), c.SessionID())
	requireGone(t, ctx, c, es.node.Path)
}

// A server that has lost its data is behind what the client has seen, and turns
// its session away, for ever. Only a client that gives the session up can come
// back.
func TestRealServerThatWasWipedGetsANewSession(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	c := realClient(t, srv, chroot(t), shortSessionOptions()...)
	ctx := within(t, stuck)
	es := makeSessionNodes(t, ctx, c, "/wiped")
	states := c.States(ctx)
	require.NoError(t, srv.Wipe())
	require.NoError(t, srv.Restart())
	require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, untilConnected(states))
	require.NotEqual(t, es.node.Session.ID(), c.SessionID())
	for kind, w := range es.watches {
		_, err := w.Wait(ctx)
		require.ErrorIs(t, err, framework.ErrSessionLost, kind)
	}
	makeSessionNodes(t, ctx, c, "/wiped")
}
