package transport

import (
	"bytes"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// allocated returns how many bytes all goroutines allocate while f runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestFramesThatAreAnnouncedAndDoNotComeTakeNoMemory(t *testing.T) {
	for name, in := range map[string][]byte{
		"handshake": {0x03, 0xff, 0xff, 0xff},
		"answer":    append(connectAnswer(9*time.Second, 7), 0x03, 0xff, 0xff, 0xff, 1, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLink(Config{})
			c := l.Wrap(&replay{in: bytes.NewReader(in)}, time.Time{}, nil).(*Conn)
			defer l.Close()
			c.Write(connectFrame(7))
			require.Less(t, allocated(func() {
				for {
					if _, err := c.readAll(); err != nil {
						return
					}
				}
			}), uint64(1<<20))
		})
	}
}

func TestLongFramesArriveWhole(t *testing.T) {
	long := make([]byte, 5<<20+3)
	for i := range long {
		long[i] = byte(i * 7 >> 3)
	}
	want := answerFrame(1, 5, 0, long)
	in := append(connectAnswer(9*time.Second, 7), want...)
	in = append(in, answerFrame(2, 5, 0, "short")...)
	l := NewLink(Config{})
	c := l.Wrap(&replay{in: bytes.NewReader(in)}, time.Time{}, nil).(*Conn)
	defer l.Close()
	c.Write(connectFrame(7))
	c.Write(getFrame(1, "/n", false))
	c.Write(getFrame(2, "/n", false))
	_, err := c.readAll()
	require.NoError(t, err)
	f, err := c.readAll()
	require.NoError(t, err)
	require.True(t, bytes.Equal(want[4:], f))
	_, err = c.readAll()
	require.NoError(t, err)
	require.LessOrEqual(t, cap(c.buf), spareSize, "the memory of one long answer is not kept")
}

// replay is a connection that yields the given bytes to Read and discards what
// is written.
type replay struct {
	net.Conn
	in *bytes.Reader
}

func (r *replay) Read(p []byte) (int, error) { return r.in.Read(p) }

func (r *replay) Write(p []byte) (int, error) { return len(p), nil }

func (r *replay) Close() error { return nil }

func (r *replay) SetReadDeadline(time.Time) error { return nil }

func FuzzIncoming(f *testing.F) {
	hello := connectAnswer(9*time.Second, 7)
	f.Add([]byte{}, false)
	f.Add(hello, false)
	f.Add(hello[:9], false)
	f.Add(frame(0, 9000, int64(7), string(make([]byte, 16)), make([]byte, 12)), false) // with fields that do not exist yet
	f.Add(frame(0, 9000, int64(7), 0x7fffffff, make([]byte, 17)), false)
	f.Add(append(bytes.Clone(hello), 0x03, 0xff, 0xff, 0xff), false)
	f.Add(append(bytes.Clone(hello), answerFrame(1, 5, 0, "data", stat[:])...), true)
	f.Add(append(bytes.Clone(hello), answerFrame(-1, -1, 0, 3, 3, "/n")...), true)
	f.Add(append(bytes.Clone(hello), answerFrame(-1, -1, 0)...), true)
	f.Add(append(bytes.Clone(hello), frame(1, 2)...), true)
	f.Add(append(bytes.Clone(hello), 0xff, 0xff, 0xff, 0xff), true)
	f.Add(append(bytes.Clone(hello), 0x7f, 0xff, 0xff, 0xff), true)
	f.Add(append(bytes.Clone(hello), answerFrame(2, 5, 0, -1, stat[:])...), true)
	f.Add(append(bytes.Clone(hello), answerFrame(firstOwnXid, 0, 0)...), true)
	f.Add(append(bytes.Clone(hello), answerFrame(firstOwnXid, 0, -115)...), true)
	f.Fuzz(func(t *testing.T, in []byte, auth bool) {
		fired := 0
		cfg := Config{
			Fired: func(Event) { fired++ },
			Watches: func(set func([]SetWatch, []*PersistentWatch)) {
				set([]SetWatch{{Watch: Watch{"/n", Data}}}, nil)
			},
		}
		if auth {
			cfg.Credentials = func() []Credentials { return []Credentials{{"digest", []byte("u:p")}} }
		}
		l := NewLink(cfg)
		read := 0
		memory := allocated(func() {
			c := l.Wrap(&replay{in: bytes.NewReader(in)}, time.Time{}, nil).(*Conn)
			c.Write(connectFrame(7))
			c.Write(getFrame(1, "/n", true))
			send(l, "/n")
			l.RemoveWatch(Watch{"/n", Data})
			for {
				b, err := c.readAll()
				if err != nil {
					break
				}
				require.GreaterOrEqual(t, len(b), proto.ReplyHeaderSize,
					"the library slices that much without a bounds check")
				if read == 0 {
					requireSaneHandshake(t, b)
				}
				read += len(b)
			}
			l.Close()
		})
		require.LessOrEqual(t, memory, uint64(1<<20+10*len(in)))
		require.LessOrEqual(t, fired, len(in)/proto.ReplyHeaderSize)
	})
}

// requireSaneHandshake requires every field that the library decodes without
// bounds checks to end inside the frame. Behind them there may be fields of later
// servers, which the library skips.
func requireSaneHandshake(t *testing.T, frame []byte) {
	r := jute.NewReader(frame)
	for range handshakeSize / 4 {
		r.Int32()
	}
	r.Buffer()
	require.False(t, r.Bad())
}

func FuzzOutgoing(f *testing.F) {
	f.Add(connectFrame(3), getFrame(1, "/n", true))
	f.Add(connectFrame(3), frame(1))
	f.Add([]byte{0, 0, 0, 0}, []byte{1})
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l := NewLink(Config{})
		c := l.Wrap(&replay{in: bytes.NewReader(connectAnswer(9*time.Second, 3))}, time.Time{}, nil).(*Conn)
		for _, b := range [][]byte{first, second} {
			n, err := c.Write(b)
			require.NoError(t, err)
			require.Equal(t, len(b), n)
		}
		c.readAll()
		c.Write(second)
		l.Close()
	})
}
