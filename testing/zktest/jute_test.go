package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCodecRoundTrip(t *testing.T) {
	e := &encoder{}
	e.values(7, int64(-8), true, "path", []byte(nil), []byte{}, []string{"a", ""}, openACL)
	e.stat(Stat{Czxid: 1, Version: -1, Pzxid: 9})
	d := &decoder{b: e.b}
	require.EqualValues(t, 7, d.int32())
	require.EqualValues(t, -8, d.int64())
	require.True(t, d.bool())
	require.Equal(t, "path", d.string())
	require.Nil(t, d.buffer())
	require.Equal(t, []byte{}, d.buffer())
	require.Equal(t, []string{"a", ""}, d.strings())
	require.Equal(t, openACL, d.acls())
	require.Equal(t, Stat{Czxid: 1, Version: -1, Pzxid: 9}, readStat(d))
	require.NoError(t, d.err)
	require.Empty(t, d.b)
}

func TestDecoderStaysAtItsFirstError(t *testing.T) {
	d := &decoder{b: []byte{0, 0, 0, 9, 1, 2, 3}}
	require.Empty(t, d.string())
	require.Zero(t, d.int32())
	require.False(t, d.bool())
	require.ErrorIs(t, d.err, errMalformed)
}

// Some clients write the empty string, and Java the empty vector, as null.
func TestDecoderTakesNullForEmpty(t *testing.T) {
	d := &decoder{b: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	require.Empty(t, d.string())
	require.Empty(t, d.strings())
	require.NoError(t, d.err)
}

func TestEncoderNeverWritesNullVectors(t *testing.T) {
	e := &encoder{}
	e.strings(nil)
	e.acls(nil)
	require.Equal(t, make([]byte, 8), e.b)
}

func TestMillis(t *testing.T) {
	require.EqualValues(t, 1, millis(1))
	require.EqualValues(t, 1500, millis(1500*time.Millisecond))
	require.EqualValues(t, 1<<31-1, millis(1000*time.Hour))
}

// FuzzRequest feeds frames to a server: whatever comes, it must not panic, must
// answer with well-formed frames, and must stay usable.
func FuzzRequest(f *testing.F) {
	seed := func(op Op, values ...any) {
		e := &encoder{}
		e.int32(1)
		e.int32(int32(op))
		e.values(values...)
		f.Add(e.b)
	}
	seed(OpCreate, "/a", []byte("x"), openACL, 3)
	seed(OpCreateTTL, "/a", []byte("x"), openACL, 5, int64(10))
	seed(OpDelete, "/a", -1)
	seed(OpSetData, "/a", []byte(nil), 0)
	seed(OpExists, "/a", true)
	seed(OpGetChildren2, "/", true)
	seed(OpSetACL, "/", openACL, -1)
	seed(OpMulti, OpCreate, "/a", []byte{}, openACL, 0, OpCheck, "/b", 0, opError)
	seed(OpMultiRead, OpGetData, "/", false, OpGetChildren, "/", false, opError)
	seed(OpSetWatches2, int64(0), []string{"/a"}, []string{"/b"}, []string{"/"}, []string{}, []string{"/"})
	seed(OpAddWatch, "/", 1)
	seed(OpRemoveWatches, "/", 3)
	seed(OpAuth, 0, "digest", []byte("u:p"))
	seed(OpWhoAmI)
	seed(OpCloseSession)
	f.Fuzz(func(t *testing.T, frame []byte) {
		srv := New(t)
		srv.mu.Lock()
		c := &conn{srv: srv, sess: srv.newSession(), out: newOutbox(func() {}, nil, &srv.queued), nc: nil}
		srv.mu.Unlock()
		for range 2 { // twice: the second time its nodes and watches exist
			x, err := c.decodeRequest(frame)
			if err != nil || !c.handle(x) {
				break
			}
		}
		for _, f := range c.out.queue {
			require.GreaterOrEqual(t, len(f.bytes), lengthSize+headerSize)
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
		srv := New(t)
		_, nc := newPipe(srv.Addr())
		c := &conn{srv: srv, nc: nc, out: newOutbox(func() {}, nil, &srv.queued), done: make(chan struct{})} // a session may expire soon
		if x, err := c.decodeConnect(frame); err == nil {
			c.handle(x)
		}
	})
}
