package zktest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The tests of this file say what real servers answer where clients rely on it.
// The conformance tests, which have the tag real, compare much more with a real
// server; these run with every change.

// A server ends its connection of a session before it looks at the password of
// any client that wants to take the session up.
func TestWrongPasswordEndsTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, thief := login(t, srv), dialRaw(t, srv)
		owner.create("/e", int(wire.FlagEphemeral))
		require.True(t, thief.handshake(0, 10_000, owner.session, make([]byte, passwordSize)))
		require.Zero(t, thief.session)
		require.Zero(t, thief.timeout, "the session is over, as far as the thief is told")
		thief.requireClosed()
		owner.requireClosed()

		again := dialRaw(t, srv)
		require.True(t, again.handshake(0, 10_000, owner.session, owner.password))
		require.Equal(t, owner.session, again.session)
		require.Equal(t, wire.OK, again.call(wire.OpExists, "/e", false).code)
	})
}

// The server bounds the timeout that a client asks for, hangs up on a client
// that has seen more than itself, and rejects a session that it does not know.
func TestHandshake(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		for asked, granted := range map[int32]int32{-1: 6000, 5_999: 6000, 20_000: 20_000, 60_001: 60_000} {
			c := dialRaw(t, srv)
			require.True(t, c.handshake(0, asked, 0, nil))
			require.Equal(t, granted, c.timeout, asked)
			require.Len(t, c.password, passwordSize)
		}
		require.False(t, dialRaw(t, srv).handshake(srv.Stats().Zxid+1, 10_000, 0, nil))
		stranger := dialRaw(t, srv)
		require.True(t, stranger.handshake(0, 10_000, 4711, make([]byte, passwordSize)))
		require.Zero(t, stranger.session)
		stranger.requireClosed()
	}, WithSessionTimeouts(6*time.Second, time.Minute))
}

// A node is for the identities in its ACL. What others get is an error, also for
// its parts in a multi and a multiRead, and no hash of a password.
func TestACLIsEnforced(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		owner, other := login(t, srv), login(t, srv)
		require.Equal(t, wire.OK, owner.call(wire.OpAuth, 0, "digest", []byte("joe:secret")).code)
		auth := wire.ID{Scheme: "auth"}
		private := []wire.ACL{{Perms: wire.PermAll, ID: auth}}
		require.Equal(t, wire.OK, owner.call(wire.OpCreate, "/acl", []byte("x"), private, 0).code)
		for op, values := range map[wire.Op][]any{
			wire.OpGetData:     {"/acl", true},
			wire.OpGetChildren: {"/acl", true},
			wire.OpExists:      {"/acl", true},
			wire.OpGetACL:      {"/acl"},
			wire.OpSetData:     {"/acl", []byte("y"), -1},
			wire.OpSetACL:      {"/acl", datatree.OpenACL, -1},
			wire.OpCreate:      {"/acl/x", []byte("x"), datatree.OpenACL, 0},
		} {
			require.Equal(t, wire.ErrNoAuth, other.call(op, values...).code, op)
		}
		body := other.call(wire.OpMulti, wire.OpCheck, "/acl", -1, wire.OpError).body
		require.Equal(t, []string{"error -102"}, results(body))
		body = other.call(wire.OpMultiRead, wire.OpGetData, "/acl", false, wire.OpError).body
		require.Equal(t, []string{"error -102"}, results(body))

		readable := []wire.ACL{{Perms: wire.PermRead, ID: datatree.Anyone}, {Perms: wire.PermAll, ID: auth}}
		require.Equal(t, wire.OK, owner.call(wire.OpSetACL, "/acl", readable, 0).code)
		require.Equal(t, "joe:x", other.call(wire.OpGetACL, "/acl").body.ACLs()[1].ID.ID)
		require.Equal(t, datatree.DigestID("joe:secret").ID, owner.call(wire.OpGetACL, "/acl").body.ACLs()[1].ID.ID)
		require.Equal(t, wire.OK, owner.create("/acl/kid", 0).code)
		require.Equal(t, wire.ErrNoAuth, other.call(wire.OpDelete, "/acl/kid", -1).code, "the parent's ACL counts")
		require.Equal(t, wire.OK, other.call(wire.OpAuth, 0, "digest", []byte("joe:secret")).code)
		require.Equal(t, wire.OK, other.call(wire.OpDelete, "/acl/kid", -1).code)

		for _, id := range []wire.ID{{Scheme: "world", ID: "nobody"}, {Scheme: "digest", ID: "abc"}, {Scheme: "ip", ID: "300.1.1.1"}, {Scheme: "x509", ID: "me"}} {
			bad := []wire.ACL{{Perms: wire.PermAll, ID: id}}
			require.Equal(t, wire.ErrInvalidACL, owner.call(wire.OpCreate, "/bad", []byte{}, bad, 0).code, id)
		}
		require.Equal(t, wire.ErrAuthFailed, other.call(wire.OpAuth, 0, "kerberos", []byte("x")).code)
		other.requireClosed()
	})
}

// results returns the parts of the answer to a multi or a multiRead that are
// errors, and stops at the first that is not.
func results(d *wire.Decoder) (list []string) {
	for {
		kind, done := decodeMultiHeader(d)
		if done || kind != wire.OpError {
			return list
		}
		list = append(list, fmt.Sprint("error ", d.Int32()))
	}
}

// A multi takes one zxid, whether it fails or not. If it fails, it changes
// nothing, and says so of each part.
func TestMultiIsOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, watcher := login(t, srv), login(t, srv)
		c.create("/m", 0)
		watcher.call(wire.OpGetChildren, "/m", true)
		zxid := srv.Stats().Zxid
		failed := c.call(wire.OpMulti,
			wire.OpCreate, "/m/a", []byte{}, datatree.OpenACL, 0, wire.OpSetData, "/m", []byte("no"), -1,
			wire.OpDelete, "/m", -1, wire.OpCheck, "/m", 0, wire.OpError)
		require.Equal(t, wire.OK, failed.code)
		require.Equal(t, zxid+1, failed.zxid)
		require.Equal(t, []string{"error 0", "error 0", "error -111", "error -2"}, results(failed.body))
		watcher.requireSilence()

		done := c.call(wire.OpMulti,
			wire.OpCreate, "/m/s-", []byte{}, datatree.OpenACL, 3, wire.OpSetData, "/m", []byte("x"), 0,
			wire.OpCheck, "/m", 1, wire.OpDelete, "/m/s-0000000000", -1, wire.OpError)
		require.Equal(t, zxid+2, done.zxid)
		require.Empty(t, results(done.body))
		require.Equal(t, datatree.Change{Event: wire.EventChildrenChanged, Path: "/m"}, watcher.receive().event())
		stat := Stat(c.call(wire.OpExists, "/m", false).body.Stat())
		require.EqualValues(t, 1, stat.Version)
		require.EqualValues(t, 2, stat.Cversion)
		require.Equal(t, zxid+2, stat.Pzxid)
	})
}

// Removing a watch of one kind leaves watches of other kinds on the same path,
// before 3.9 it does not.
func TestRemovingWatches(t *testing.T) {
	for left, opts := range map[int][]Option{2: nil, 1: {zkinside.With(zkinside.Settings{Version38: true}).(Option)}} {
		bubble(t, func(t *testing.T, srv *Server) {
			c := login(t, srv)
			c.create("/w", 0)
			c.call(wire.OpAddWatch, "/w", 0)
			c.call(wire.OpGetData, "/w", true)
			const data, children, anyKind = 2, 1, 3
			require.Equal(t, wire.OK, c.call(wire.OpCheckWatches, "/w", data).code)
			require.Equal(t, wire.ErrNoWatcher, c.call(wire.OpCheckWatches, "/none", data).code)
			require.Equal(t, wire.OK, c.call(wire.OpRemoveWatches, "/w", data).code)
			require.Len(t, srv.Watches(), left)
			c.call(wire.OpRemoveWatches, "/w", children)
			c.call(wire.OpRemoveWatches, "/w", anyKind)
			require.Empty(t, srv.Watches())
			require.Equal(t, wire.ErrNoWatcher, c.call(wire.OpRemoveWatches, "/w", anyKind).code)
		}, opts...)
	}
}

// A request that the server does not know, or cannot read, is answered. The
// first ends the connection, the second does not.
func TestRequestsThatCannotBeCarriedOut(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		zxid := srv.Stats().Zxid
		require.Equal(t, wire.ErrMarshalling, c.call(wire.OpCreate, "/x").code)
		require.Equal(t, wire.ErrMarshalling, c.call(wire.OpGetData, -2).code)
		require.Equal(t, zxid, srv.Stats().Zxid)
		require.Equal(t, wire.ErrMarshalling, c.call(wire.OpMulti, wire.OpGetData, "/", false).code)
		require.Equal(t, zxid+1, srv.Stats().Zxid, "a multi has its zxid before it is read")
		for _, path := range []string{"", "x", "//", "/.", "/..", "/x\x00"} {
			require.Equal(t, wire.ErrBadArguments, c.create(path, 0).code, "%q", path)
		}
		require.Equal(t, wire.ErrUnimplemented, c.call(77, "/").code)
		c.requireClosed()
		synctest.Wait()
		require.Len(t, srv.Sessions(), 1)
	})
}
