package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACLIsEnforced(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, stranger := login(t, srv), login(t, srv)
		auth := []ACL{{Perms: permAll, ID: ID{Scheme: "auth"}}}
		require.Equal(t, ErrInvalidACL, owner.call(OpCreate, "/a", []byte{}, auth, 0).code)
		owner.call(OpAuth, 0, "digest", []byte("joe:secret"))
		require.Equal(t, ok, owner.call(OpCreate, "/a", []byte{}, auth, 0).code)

		require.Equal(t, ErrNoAuth, stranger.call(OpGetData, "/a", false).code)
		require.Equal(t, ErrNoAuth, stranger.call(OpExists, "/a", false).code)
		require.Equal(t, ErrNoAuth, stranger.call(OpGetACL, "/a").code)
		require.Equal(t, ErrNoAuth, stranger.create("/a/b", 0).code)
		require.Equal(t, ErrNoAuth, stranger.call(OpSetACL, "/a", openACL, -1).code)

		acl := owner.call(OpGetACL, "/a").body.acls()
		require.Equal(t, []ACL{{Perms: permAll, ID: digestID("joe:secret")}}, acl)
		readable := []ACL{{Perms: permRead, ID: anyone}, acl[0]}
		stat := readStat(owner.call(OpSetACL, "/a", readable, 0).body)
		require.EqualValues(t, 1, stat.Aversion)
		require.Equal(t, ErrBadVersion, owner.call(OpSetACL, "/a", readable, 0).code)
		require.Equal(t, "joe:x", stranger.call(OpGetACL, "/a").body.acls()[1].ID.ID)
	})
}

func TestAuth(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpAuth, 0, "digest", []byte("joe:secret"))
		d := c.call(OpWhoAmI).body
		require.EqualValues(t, 2, d.int32())
		require.Equal(t, "ip 127.0.0.1", d.string()+" "+d.string())
		require.Equal(t, "digest joe", d.string()+" "+d.string())

		r := c.call(OpAuth, 0, "kerberos", []byte{})
		require.Equal(t, ErrAuthFailed, r.code)
		c.requireClosed()
	})
}

// A persistent watch of everything must not become a way to read names that its owner may not see.
func TestEventsAreForThoseWhoMayRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, other := login(t, srv), login(t, srv)
		owner.call(OpAuth, 0, "digest", []byte("joe:secret"))
		other.call(OpAddWatch, "/", 1)
		owner.call(OpCreate, "/private", []byte{}, []ACL{{permAll, ID{"auth", ""}}}, 0)
		owner.create("/open", 0)
		require.Equal(t, change{eventCreated, "/open"}, other.receive().event())
		other.requireSilence()
	})
}

func TestExistsWithoutPermissionLeavesNoWatch(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpCreate, "/p", []byte{}, []ACL{{permWrite, anyone}}, 0)
		require.Equal(t, ErrNoAuth, c.call(OpExists, "/p", true).code)
		srv.AssertNoWatches(t)
	})
}

func TestNoACLAppliesToTheSuperUser(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		c.call(OpCreate, "/p", []byte{}, []ACL{{permAdmin, digestID("joe:secret")}}, 0)
		for _, credentials := range []string{"joe:wrong", "root:wrong", ""} {
			other.call(OpAuth, 0, "digest", []byte(credentials))
			require.Equal(t, ErrNoAuth, other.call(OpGetData, "/p", false).code)
		}
		other.call(OpAuth, 0, "digest", []byte("root:secret"))
		require.Equal(t, ok, other.call(OpGetData, "/p", false).code)
	}, WithSuperUser("root:secret"))
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpCreate, "/p", []byte{}, []ACL{{permAdmin, anyone}}, 0)
		c.call(OpAuth, 0, "digest", []byte{})
		require.Equal(t, ErrNoAuth, c.call(OpGetData, "/p", false).code, "no credentials are not those of no super user")
	})
}
