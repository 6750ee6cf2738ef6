package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A persistent watch of everything must not become a way to read names that its
// owner may not see.
func TestEventsAreForThoseWhoMayRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, other := login(t, srv), login(t, srv)
		owner.call(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		other.call(wire.OpAddWatch, "/", 1)
		owner.call(wire.OpCreate, "/private", []byte{}, []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "auth", ID: ""}}}, 0)
		owner.create("/open", 0)
		require.Equal(t, datatree.Change{Event: wire.EventCreated, Path: "/open"}, other.receive().event())
		other.requireSilence()
	})
}
