package transport

import (
	"bytes"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// replay is a connection from which given bytes are read and to which anything may be written.
type replay struct {
	net.Conn
	in *bytes.Reader
}

func (r *replay) Read(p []byte) (int, error)      { return r.in.Read(p) }
func (r *replay) Write(p []byte) (int, error)     { return len(p), nil }
func (r *replay) Close() error                    { return nil }
func (r *replay) SetReadDeadline(time.Time) error { return nil }

func FuzzIncoming(f *testing.F) {
	hello := connectAnswer(9*time.Second, 7)
	f.Add([]byte{}, false)
	f.Add(hello, false)
	f.Add(hello[:9], false)
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
			Fired:   func(Event) { fired++ },
			Watches: func(set func([]SetWatch)) { set([]SetWatch{{Watch: Watch{"/n", Data}}}) },
		}
		if auth {
			cfg.Credentials = func() []Credentials { return []Credentials{{"digest", []byte("u:p")}} }
		}
		l := NewLink(cfg)
		c := l.Wrap(&replay{in: bytes.NewReader(in)}, time.Time{}).(*Conn)
		c.Write(connectFrame(0))
		c.Write(getFrame(1, "/n", true))
		send(l, "/n")
		l.Withdraw(Watch{"/n", Data})
		read := 0
		for {
			b, err := c.readAll()
			if err != nil {
				break
			}
			require.GreaterOrEqual(t, len(b), replyHeaderSize, "the library slices that much without looking")
			read += len(b)
		}
		require.LessOrEqual(t, cap(c.buf), maxFrame+lengthSize)
		require.LessOrEqual(t, fired, len(in)/replyHeaderSize)
		l.Close()
	})
}

func FuzzOutgoing(f *testing.F) {
	f.Add(connectFrame(3), getFrame(1, "/n", true))
	f.Add(connectFrame(3), frame(1))
	f.Add([]byte{0, 0, 0, 0}, []byte{1})
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l := NewLink(Config{})
		c := l.Wrap(&replay{in: bytes.NewReader(connectAnswer(9*time.Second, 3))}, time.Time{}).(*Conn)
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

// library returns a client of go-zookeeper whose server is played by the test: serve is called with the number of each
// connection. Everything is over when the test's bubble ends.
func library(t *testing.T, l *Link, serve func(n int, p *peer)) *zk.Conn {
	t.Helper()
	n := 0
	conn, events, err := zk.Connect([]string{"127.0.0.1:1"}, 9*time.Second, zk.WithLogger(quiet{}),
		zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) {
			n++
			client, server := net.Pipe()
			go func(n int) {
				defer server.Close()
				p := newPeer(t, server)
				serve(n, p)
				for p.read() != nil {
				}
			}(n)
			return l.Wrap(client, time.Now().Add(6*time.Second)), nil
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		l.Close()
		for range events {
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Each of these makes the library panic, or allocate until the process dies, if it gets to see it.
func TestFramesThatWouldCrashTheLibraryEndTheConnectionInstead(t *testing.T) {
	for name, bad := range map[string][]byte{
		"shorter than a header":       frame(1, 2),
		"empty":                       frame(),
		"one byte short of a header":  frame(1, int64(2), []byte{0, 0, 0}),
		"negative length":             {0xff, 0xff, 0xff, 0xff},
		"huge length":                 {0x7f, 0xff, 0xff, 0xff},
		"notification without a body": answerFrame(-1, -1, 0),
		"notification of half a path": answerFrame(-1, -1, 0, 3, 3, 100, []byte("/n")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				again := make(chan bool)
				library(t, NewLink(Config{}), func(n int, p *peer) {
					p.read()
					p.write(connectAnswer(9*time.Second, 7))
					switch n {
					case 1:
						p.write(bad)
					case 2:
						close(again)
					}
				})
				<-again
			})
		})
	}
}

func TestHandshakeOfAServerThatStopsHalfwayIsBounded(t *testing.T) {
	for name, sent := range map[string][]byte{
		"nothing":         nil,
		"only the length": connectAnswer(9*time.Second, 7)[:4],
		"half":            connectAnswer(9*time.Second, 7)[:20],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := make(chan time.Time, 10)
				library(t, NewLink(Config{}), func(n int, p *peer) {
					dials <- time.Now()
					p.read()
					p.write(sent)
				})
				first, second := <-dials, <-dials
				require.Equal(t, 7*time.Second, second.Sub(first), "six seconds, and the library's pause of one")
			})
		})
	}
}

func TestMalformedHandshakesAreRefused(t *testing.T) {
	for name, answer := range map[string][]byte{
		"too short":        frame(0, 9000),
		"timeout of zero":  frame(0, 0, int64(7), ""),
		"negative timeout": frame(0, -5, int64(7), ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := dialed(t, NewLink(Config{}))
				go c.Write(connectFrame(0))
				p.read()
				go p.write(answer)
				_, err := c.readAll()
				require.ErrorIs(t, err, errMalformed)
			})
		})
	}
}
