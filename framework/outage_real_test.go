//go:build real

package framework_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

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
