package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/memnet"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// FuzzRequest feeds frames to a server: whatever comes, it must not panic, must
// answer with well-formed frames, and must stay usable.
func FuzzRequest(f *testing.F) {
	seed := func(op wire.Op, values ...any) {
		e := &wire.Encoder{}
		e.Int32(1)
		e.Int32(int32(op))
		encodeValues(e, values...)
		f.Add(e.Buf)
	}
	seed(wire.OpCreate, "/a", []byte("x"), datatree.OpenACL, 3)
	seed(wire.OpCreateTTL, "/a", []byte("x"), datatree.OpenACL, 5, int64(10))
	seed(wire.OpDelete, "/a", -1)
	seed(wire.OpSetData, "/a", []byte(nil), 0)
	seed(wire.OpExists, "/a", true)
	seed(wire.OpGetChildren2, "/", true)
	seed(wire.OpSetACL, "/", datatree.OpenACL, -1)
	seed(wire.OpMulti, wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0, wire.OpCheck, "/b", 0, wire.OpError)
	seed(wire.OpMultiRead, wire.OpGetData, "/", false, wire.OpGetChildren, "/", false, wire.OpError)
	seed(wire.OpSetWatches2, int64(0), []string{"/a"}, []string{"/b"}, []string{"/"}, []string{}, []string{"/"})
	seed(wire.OpAddWatch, "/", 1)
	seed(wire.OpRemoveWatches, "/", 3)
	seed(wire.OpAuth, 0, "digest", []byte("u:p"))
	seed(wire.OpSASL, []byte(`username="u",realm="x"`))
	seed(wire.OpCloseSession)
	f.Fuzz(func(t *testing.T, frame []byte) {
		srv := Start(t)
		srv.mu.Lock()
		c := &conn{srv: srv, sess: srv.newSessionLocked(), out: newOutbox(func() {}, &srv.queued), nc: nil}
		srv.mu.Unlock()
		for range 2 { // twice: the second time its nodes and watches exist
			x, err := c.decodeRequest(frame)
			if err != nil || !c.handle(x) {
				break
			}
		}
		for _, f := range c.out.queue {
			require.GreaterOrEqual(t, len(f.bytes), wire.LengthSize+wire.HeaderSize)
		}
		require.NoError(t, srv.Create("/still/alive", nil))
	})
}

// FuzzConnect does the same for the handshake.
func FuzzConnect(f *testing.F) {
	f.Add(make([]byte, 28))
	f.Add(make([]byte, 44))
	f.Add(make([]byte, 45))
	f.Fuzz(func(t *testing.T, frame []byte) {
		srv := Start(t)
		_, nc := memnet.Pipe(srv.Addr())
		c := &conn{srv: srv, nc: nc, out: newOutbox(func() {}, &srv.queued), done: make(chan struct{})} // a session may expire soon
		if x, err := c.decodeConnect(frame); err == nil {
			c.handle(x)
		}
	})
}
