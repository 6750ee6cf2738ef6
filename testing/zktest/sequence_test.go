package zktest

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A busy server counts on among creates that are under way together, and no
// further: see TestRealServerCountsOnAmongCreatesUnderWay.
func TestSequenceCountsOnAmongRequestsThatComeTogether(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/p", nil))
		require.NoError(t, zkinside.Of(srv).SetSequence("/p", math.MaxInt32-1))
		failing := []any{wire.OpCreate, "/p/x-", []byte(nil), datatree.OpenACL, 2, wire.OpCheck, "/missing", 0, wire.OpError}
		e := &wire.Encoder{}
		for i, op := range []wire.Op{wire.OpCreate, wire.OpCreate, wire.OpGetData, wire.OpCreate, wire.OpMulti, wire.OpCreate} {
			f := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
			f.Int32(int32(i))
			f.Int32(int32(op))
			switch op {
			case wire.OpCreate:
				encodeValues(f, fmt.Sprintf("/p/%d-", i), []byte(nil), datatree.OpenACL, 2)
			case wire.OpGetData:
				encodeValues(f, "/p", false)
			case wire.OpMulti:
				encodeValues(f, failing...)
			}
			e.Buf = append(e.Buf, f.Frame()...)
		}
		c.write(e.Buf)
		var names []string
		for range 6 {
			if r := c.receive(); r.xid != 2 && r.xid != 4 {
				names = append(names, r.body.String())
			}
		}
		names = append(names, c.create("/p/6-", 2).body.String())
		require.Equal(t, []string{
			"/p/0-2147483646", "/p/1-2147483647", "/p/3--2147483648", "/p/5--2147483647", "/p/6-2147483647",
		}, names)
	})
}

func TestQueue(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/q/other", nil))
		require.NoError(t, srv.Create("/q/short-1", nil))
		require.NoError(t, zkinside.Of(srv).SetSequence("/q", 1<<31-2))
		var want []string
		add := func(prefix string) { want = append(want, c.create("/q/"+prefix, 3).body.String()) }
		add("z-")
		add("y-")
		body := c.call(wire.OpMulti,
			wire.OpCreate, "/q/x-", []byte(nil), datatree.OpenACL, 3, wire.OpCreate, "/q/c-", []byte(nil), datatree.OpenACL, 3,
			wire.OpCreate, "/q/a-", []byte(nil), datatree.OpenACL, 3, wire.OpError).body
		for range 3 {
			decodeMultiHeader(body)
			want = append(want, body.String())
		}
		add("m-")
		add("b-")
		require.Equal(t, []string{
			"/q/z-2147483646", "/q/y-2147483647", "/q/x-2147483647", "/q/c--2147483648", "/q/a--2147483647",
			"/q/m-2147483647", "/q/b-2147483647",
		}, want)
		var got []string
		for _, n := range srv.Queue("/q") {
			got = append(got, n.Path)
		}
		require.Equal(t, want, got)
		require.Nil(t, srv.Queue("/missing"))
	})
}
