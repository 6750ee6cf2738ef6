package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestACLIsEnforced(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, stranger := login(t, srv), login(t, srv)
		auth := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "auth"}}}
		require.Equal(t, wire.ErrInvalidACL, owner.call(wire.OpCreate, "/a", []byte{}, auth, 0).code)
		owner.call(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		require.Equal(t, wire.OK, owner.call(wire.OpCreate, "/a", []byte{}, auth, 0).code)

		require.Equal(t, wire.ErrNoAuth, stranger.call(wire.OpGetData, "/a", false).code)
		require.Equal(t, wire.ErrNoAuth, stranger.call(wire.OpExists, "/a", false).code)
		require.Equal(t, wire.ErrNoAuth, stranger.call(wire.OpGetACL, "/a").code)
		require.Equal(t, wire.ErrNoAuth, stranger.create("/a/b", 0).code)
		require.Equal(t, wire.ErrNoAuth, stranger.call(wire.OpSetACL, "/a", datatree.OpenACL, -1).code)

		acl := owner.call(wire.OpGetACL, "/a").body.ACLs()
		require.Equal(t, []wire.ACL{{Perms: wire.PermAll, ID: datatree.DigestID("joe:secret")}}, acl)
		readable := []wire.ACL{{Perms: wire.PermRead, ID: datatree.Anyone}, acl[0]}
		stat := owner.call(wire.OpSetACL, "/a", readable, 0).body.Stat()
		require.EqualValues(t, 1, stat.Aversion)
		require.Equal(t, wire.ErrBadVersion, owner.call(wire.OpSetACL, "/a", readable, 0).code)
		require.Equal(t, "joe:x", stranger.call(wire.OpGetACL, "/a").body.ACLs()[1].ID.ID)
	})
}

func TestAuth(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		d := c.call(wire.OpWhoAmI).body
		require.EqualValues(t, 2, d.Int32())
		require.Equal(t, "ip 127.0.0.1", d.String()+" "+d.String())
		require.Equal(t, "digest joe", d.String()+" "+d.String())

		r := c.call(wire.OpAuth, 0, "kerberos", []byte{})
		require.Equal(t, wire.ErrAuthFailed, r.code)
		c.requireClosed()
	})
}

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

func TestExistsWithoutPermissionLeavesNoWatch(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpCreate, "/p", []byte{}, []wire.ACL{{Perms: wire.PermWrite, ID: datatree.Anyone}}, 0)
		require.Equal(t, wire.ErrNoAuth, c.call(wire.OpExists, "/p", true).code)
		srv.AssertNoWatches(t)
	})
}

func TestNoACLAppliesToTheSuperUser(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		c.call(wire.OpCreate, "/p", []byte{}, []wire.ACL{{Perms: wire.PermAdmin, ID: datatree.DigestID("joe:secret")}}, 0)
		for _, credentials := range []string{"joe:wrong", "root:wrong", ""} {
			other.call(wire.OpAuth, 0, "digest", []byte(credentials))
			require.Equal(t, wire.ErrNoAuth, other.call(wire.OpGetData, "/p", false).code)
		}
		other.call(wire.OpAuth, 0, "digest", []byte("root:secret"))
		require.Equal(t, wire.OK, other.call(wire.OpGetData, "/p", false).code)
	}, WithSuperUser("root:secret"))
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpCreate, "/p", []byte{}, []wire.ACL{{Perms: wire.PermAdmin, ID: datatree.Anyone}}, 0)
		c.call(wire.OpAuth, 0, "digest", []byte{})
		require.Equal(t, wire.ErrNoAuth, c.call(wire.OpGetData, "/p", false).code, "no credentials are not those of no super user")
	})
}

// A real server compares the digest of the whole text, whether it has a colon or
// not. Curator's own tests have a super user without one.
func TestSuperUserWithoutAColon(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, super := login(t, srv), login(t, srv)
		require.Equal(t, wire.OK, owner.call(wire.OpAuth, 0, "digest", []byte("joe:secret")).code)
		acl := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "auth"}}}
		require.Equal(t, wire.OK, owner.call(wire.OpCreate, "/a", []byte{}, acl, 0).code)
		require.Equal(t, wire.ErrNoAuth, super.call(wire.OpSetData, "/a", []byte("x"), -1).code)
		require.Equal(t, wire.OK, super.call(wire.OpAuth, 0, "digest", []byte("root")).code)
		require.Equal(t, wire.OK, super.call(wire.OpSetData, "/a", []byte("x"), -1).code)
	}, WithSuperUser("root"))
}
