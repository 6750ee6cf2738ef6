package zktest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestMultiAppliesAllUnderOneZxid(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(wire.OpMulti,
			wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0,
			wire.OpCreate2, "/a/n-", []byte{}, datatree.OpenACL, int(wire.FlagSequence),
			wire.OpSetData, "/a", []byte("x"), 0,
			wire.OpCheck, "/a", 1,
			wire.OpDelete, "/a/n-0000000000", -1,
			wire.OpError)
		require.Equal(t, wire.OK, r.code)
		d := r.body
		requireMultiHeader(t, d, wire.OpCreate, wire.OK)
		require.Equal(t, "/a", d.String())
		requireMultiHeader(t, d, wire.OpCreate2, wire.OK)
		require.Equal(t, "/a/n-0000000000", d.String())
		require.Equal(t, r.zxid, d.Stat().Czxid)
		requireMultiHeader(t, d, wire.OpSetData, wire.OK)
		require.Equal(t, r.zxid, d.Stat().Mzxid)
		requireMultiHeader(t, d, wire.OpCheck, wire.OK)
		requireMultiHeader(t, d, wire.OpDelete, wire.OK)
		requireMultiHeader(t, d, wire.OpError, wire.ErrEnd)
		require.Empty(t, d.Buf)
	})
}

func requireMultiHeader(t *testing.T, d *wire.Decoder, op wire.Op, code wire.Code) {
	t.Helper()
	require.Equal(t, op, wire.Op(d.Int32()))
	require.Equal(t, op == wire.OpError && code == wire.ErrEnd, d.Bool())
	require.Equal(t, code, wire.Code(d.Int32()))
}

func TestMultiFailsAsAWhole(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/p/old", []byte("old")))
		tree := srv.Tree()
		c := login(t, srv)
		c.call(wire.OpGetChildren, "/p", true)
		before := srv.Zxid()
		r := c.call(wire.OpMulti,
			wire.OpCreate, "/p/new", []byte{}, datatree.OpenACL, 0,
			wire.OpSetData, "/p/old", []byte("new"), -1,
			wire.OpDelete, "/p/old", -1,
			wire.OpCheck, "/missing", -1,
			wire.OpCreate, "/p/later", []byte{}, datatree.OpenACL, 0,
			wire.OpError)
		require.Equal(t, wire.OK, r.code, "the error is in the body")
		require.Equal(t, before+1, r.zxid)
		for _, want := range []wire.Code{wire.OK, wire.OK, wire.OK, wire.ErrNoNode, wire.ErrRuntimeInconsistency} {
			requireMultiHeader(t, r.body, wire.OpError, want)
			require.Equal(t, want, wire.Code(r.body.Int32()))
		}
		requireMultiHeader(t, r.body, wire.OpError, wire.ErrEnd)
		require.Equal(t, tree, srv.Tree())
		require.Len(t, srv.Watches(), 1, "nothing happened, so no event")
	})
}

func TestCreateFlagsAloneAndInMulti(t *testing.T) {
	const gone = wire.Op(0) // malformed
	for _, tc := range []struct {
		op      wire.Op
		flags   int32
		alone   wire.Code
		inMulti wire.Op // the type of the answer
	}{
		{wire.OpCreate, 0, wire.OK, wire.OpCreate},
		{wire.OpCreate, wire.FlagContainer, wire.OK, wire.OpCreate2},
		{wire.OpCreate, wire.FlagTTL, wire.ErrBadArguments, gone},
		{wire.OpCreate, wire.MaxFlags + 1, wire.ErrBadArguments, gone},
		{wire.OpCreate2, wire.FlagContainer, wire.OK, wire.OpCreate2},
		{wire.OpCreate2, wire.FlagTTL, wire.ErrBadArguments, gone},
		{wire.OpCreateContainer, 0, wire.OK, wire.OpCreate2},
		{wire.OpCreateContainer, wire.FlagEphemeral, wire.OK, wire.OpCreate2},
		{wire.OpCreateTTL, wire.FlagTTL, wire.OK, wire.OpCreate2},
		{wire.OpCreateTTL, 0, wire.ErrBadArguments, wire.OpCreate},
		{wire.OpCreateTTL, wire.FlagContainer, wire.ErrBadArguments, wire.OpCreate2},
	} {
		t.Run(fmt.Sprintf("%v %d", tc.op, tc.flags), func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				body := func(path string) []any {
					values := []any{path, []byte{}, datatree.OpenACL, int(tc.flags)}
					if tc.op == wire.OpCreateTTL {
						values = append(values, int64(1000))
					}
					return values
				}
				require.Equal(t, tc.alone, c.call(tc.op, body("/alone")...).code)
				r := c.call(wire.OpMulti, append(append([]any{tc.op}, body("/multi")...), wire.OpError)...)
				if tc.inMulti == gone {
					require.Equal(t, wire.ErrMarshalling, r.code)
					return
				}
				requireMultiHeader(t, r.body, tc.inMulti, wire.OK)
			})
		})
	}
}

// The request decides whether a node is a container; inside a multi, the flags
// do.
func TestContainerFlag(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/plain", int(wire.FlagContainer))
		c.call(wire.OpMulti, wire.OpCreate, "/container", []byte{}, datatree.OpenACL, int(wire.FlagContainer), wire.OpError)
		for _, path := range []string{"/plain/x", "/container/x"} {
			c.create(path, 0)
			c.call(wire.OpDelete, path, -1)
		}
		require.Equal(t, 1, srv.ReapContainers())
		require.Equal(t, []string{"plain", "zookeeper"}, srv.Children("/"))
	})
}

func TestMultiRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/a/b", []byte("x")))
		c := login(t, srv)
		d := c.call(wire.OpMultiRead,
			wire.OpGetChildren, "/a", false, wire.OpGetData, "/missing", false, wire.OpGetData, "/a/b", false, wire.OpError).body
		requireMultiHeader(t, d, wire.OpGetChildren, wire.OK)
		require.Equal(t, []string{"b"}, d.Strings())
		requireMultiHeader(t, d, wire.OpError, wire.ErrNoNode)
		require.Equal(t, wire.ErrNoNode, wire.Code(d.Int32()))
		requireMultiHeader(t, d, wire.OpGetData, wire.OK)
		require.Equal(t, "x", d.String())
		d.Stat()
		requireMultiHeader(t, d, wire.OpError, wire.ErrEnd)
	})
}
