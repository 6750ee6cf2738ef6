package zktest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A connection that the server has ended carries nothing out any more. These tests send both
// requests in one write, because the server may end the connection before a second write.

func TestRequestsBehindALostOneAreLost(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		srv.Inject(Rule{Op: OpCreate, Path: "/a", Do: DropRequest()})
		c.write(slices.Concat(
			requestFrame(1, wire.OpCreate, "/a", []byte("x"), datatree.OpenACL, 0),
			requestFrame(2, wire.OpCreate, "/b", []byte("x"), datatree.OpenACL, 0)))
		synctest.Wait()
		require.Empty(t, srv.Tree())
	})
}

func TestClosedSessionsCreateNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.write(slices.Concat(
			requestFrame(1, wire.OpCloseSession),
			requestFrame(2, wire.OpCreate, "/e", []byte("x"), datatree.OpenACL, int(wire.FlagEphemeral))))
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		require.Empty(t, srv.Tree(), "an ephemeral node without a session")
	})
}
