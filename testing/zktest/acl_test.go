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
