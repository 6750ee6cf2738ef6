package zktest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMultiAppliesAllUnderOneZxid(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(OpMulti,
			OpCreate, "/a", []byte{}, openACL, 0,
			OpCreate2, "/a/n-", []byte{}, openACL, int(flagSequence),
			OpSetData, "/a", []byte("x"), 0,
			OpCheck, "/a", 1,
			OpDelete, "/a/n-0000000000", -1,
			opError)
		require.Equal(t, ok, r.code)
		d := r.body
		requireMultiHeader(t, d, OpCreate, ok)
		require.Equal(t, "/a", d.string())
		requireMultiHeader(t, d, OpCreate2, ok)
		require.Equal(t, "/a/n-0000000000", d.string())
		require.Equal(t, r.zxid, readStat(d).Czxid)
		requireMultiHeader(t, d, OpSetData, ok)
		require.Equal(t, r.zxid, readStat(d).Mzxid)
		requireMultiHeader(t, d, OpCheck, ok)
		requireMultiHeader(t, d, OpDelete, ok)
		requireMultiHeader(t, d, opError, opErrorEnd)
		require.Empty(t, d.b)
	})
}

func requireMultiHeader(t *testing.T, d *decoder, op Op, code Code) {
	t.Helper()
	require.Equal(t, op, Op(d.int32()))
	require.Equal(t, op == opError && code == opErrorEnd, d.bool())
	require.Equal(t, code, Code(d.int32()))
}

func TestMultiFailsAsAWhole(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/p/old", []byte("old")))
		tree := srv.Tree()
		c := login(t, srv)
		c.call(OpGetChildren, "/p", true)
		before := srv.Zxid()
		r := c.call(OpMulti,
			OpCreate, "/p/new", []byte{}, openACL, 0,
			OpSetData, "/p/old", []byte("new"), -1,
			OpDelete, "/p/old", -1,
			OpCheck, "/missing", -1,
			OpCreate, "/p/later", []byte{}, openACL, 0,
			opError)
		require.Equal(t, ok, r.code, "the error is in the body")
		require.Equal(t, before+1, r.zxid)
		for _, want := range []Code{ok, ok, ok, ErrNoNode, ErrRuntimeInconsistency} {
			requireMultiHeader(t, r.body, opError, want)
			require.Equal(t, want, Code(r.body.int32()))
		}
		requireMultiHeader(t, r.body, opError, opErrorEnd)
		require.Equal(t, tree, srv.Tree())
		require.Len(t, srv.Watches(), 1, "nothing happened, so no event")
	})
}

func TestCreateFlagsAloneAndInMulti(t *testing.T) {
	const gone = Op(0) // malformed
	for _, tc := range []struct {
		op      Op
		flags   int32
		alone   Code
		inMulti Op // the type of the answer
	}{
		{OpCreate, 0, ok, OpCreate},
		{OpCreate, flagContainer, ok, OpCreate2},
		{OpCreate, flagTTL, ErrBadArguments, gone},
		{OpCreate, maxFlags + 1, ErrBadArguments, gone},
		{OpCreate2, flagContainer, ok, OpCreate2},
		{OpCreate2, flagTTL, ErrBadArguments, gone},
		{OpCreateContainer, 0, ok, OpCreate2},
		{OpCreateContainer, flagEphemeral, ok, OpCreate2},
		{OpCreateTTL, flagTTL, ok, OpCreate2},
		{OpCreateTTL, 0, ErrBadArguments, OpCreate},
		{OpCreateTTL, flagContainer, ErrBadArguments, OpCreate2},
	} {
		t.Run(fmt.Sprintf("%v %d", tc.op, tc.flags), func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				body := func(path string) []any {
					values := []any{path, []byte{}, openACL, int(tc.flags)}
					if tc.op == OpCreateTTL {
						values = append(values, int64(1000))
					}
					return values
				}
				require.Equal(t, tc.alone, c.call(tc.op, body("/alone")...).code)
				r := c.call(OpMulti, append(append([]any{tc.op}, body("/multi")...), opError)...)
				if tc.inMulti == gone {
					require.Equal(t, ErrMarshalling, r.code)
					return
				}
				requireMultiHeader(t, r.body, tc.inMulti, ok)
			})
		})
	}
}

// The request decides whether a node is a container; inside a multi, the flags do.
func TestContainerFlag(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/plain", int(flagContainer))
		c.call(OpMulti, OpCreate, "/container", []byte{}, openACL, int(flagContainer), opError)
		for _, path := range []string{"/plain/x", "/container/x"} {
			c.create(path, 0)
			c.call(OpDelete, path, -1)
		}
		require.Equal(t, 1, srv.ReapContainers())
		require.Equal(t, []string{"plain", "zookeeper"}, srv.Children("/"))
	})
}

func TestMultiRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/a/b", []byte("x")))
		c := login(t, srv)
		d := c.call(OpMultiRead,
			OpGetChildren, "/a", false, OpGetData, "/missing", false, OpGetData, "/a/b", false, opError).body
		requireMultiHeader(t, d, OpGetChildren, ok)
		require.Equal(t, []string{"b"}, d.strings())
		requireMultiHeader(t, d, opError, ErrNoNode)
		require.Equal(t, ErrNoNode, Code(d.int32()))
		requireMultiHeader(t, d, OpGetData, ok)
		require.Equal(t, "x", d.string())
		readStat(d)
		requireMultiHeader(t, d, opError, opErrorEnd)
	})
}
