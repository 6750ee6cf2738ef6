package transport

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// peer is the server's end of a connection, played by a test. It receives
// frames at once and keeps them for read.
type peer struct {
	t       *testing.T
	nc      net.Conn
	arrived chan []byte // frames without their length; closed with nc
}

func newPeer(t *testing.T, nc net.Conn) *peer {
	p := &peer{t, nc, make(chan []byte, 10_000)}
	go func() {
		defer close(p.arrived)
		for {
			var length [4]byte
			if _, err := io.ReadFull(nc, length[:]); err != nil {
				return
			}
			frame := make([]byte, binary.BigEndian.Uint32(length[:]))
			if _, err := io.ReadFull(nc, frame); err != nil {
				return
			}
			p.arrived <- frame
		}
	}()
	return p
}

// dialed returns a wrapped connection of a link, and its peer. The handshake
// must be done within ten seconds.
func dialed(t *testing.T, l *Link) (*Conn, *peer) {
	t.Helper()
	client, server := net.Pipe()
	c := l.Wrap(client, time.Now().Add(10*time.Second), nil).(*Conn)
	t.Cleanup(func() { c.Close(); server.Close(); l.Close() })
	return c, newPeer(t, server)
}

// established returns a connection with a confirmed session, as the library and
// a server would have it, and its peer.
func established(t *testing.T, l *Link, session int64, timeout time.Duration) (*Conn, *peer) {
	t.Helper()
	c, p := dialed(t, l)
	completeHandshake(t, c, p, session, timeout)
	return c, p
}

// completeHandshake plays the library and the server of a handshake.
func completeHandshake(t *testing.T, c *Conn, p *peer, session int64, timeout time.Duration) {
	t.Helper()
	go c.Write(connectFrame(session))
	p.read()
	go func() {
		p.write(connectAnswer(timeout, max(session, 1)))
		if session == 0 {
			p.answerPing()
		}
	}()
	_, err := c.readAll()
	require.NoError(t, err)
}

// read returns the next frame that arrived, without its length. It returns nil
// at the end of the connection.
func (p *peer) read() []byte { return <-p.arrived }

// readOps returns the operation codes of the next n requests.
func (p *peer) readOps(n int) (ops []int32) {
	for range n {
		ops = append(ops, int32(binary.BigEndian.Uint32(p.read()[4:])))
	}
	return ops
}

// silent reports whether no frame arrives for a second.
func (p *peer) silent() bool {
	select {
	case frame := <-p.arrived:
		return frame == nil
	case <-time.After(time.Second):
		return true
	}
}

func (p *peer) write(frame []byte) { p.nc.Write(frame) }

// answerPing answers the ping in the handshake of a new session.
func (p *peer) answerPing() {
	if p.read() != nil {
		p.write(pingAnswer)
	}
}

var pingAnswer = answerFrame(proto.XidPing, 0, 0)

// readAll reads one frame as the library does: the length, then the rest.
func (c *Conn) readAll() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, frameLength(length[:]))
	_, err := io.ReadFull(c, frame)
	return frame, err
}

// frame returns a frame of the given parts: integers in their width, with int
// as int32, strings behind their length, bytes as they are.
func frame(parts ...any) []byte {
	b := make([]byte, 4)
	for _, part := range parts {
		switch v := part.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(v)))
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case []byte:
			b = append(b, v...)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func connectFrame(session int64) []byte {
	return frame(0, int64(0), 9000, session, string(make([]byte, 16)))
}

func connectAnswer(timeout time.Duration, session int64) []byte {
	return frame(0, int(timeout.Milliseconds()), session, string(make([]byte, 16)))
}

// getFrame returns a request that the library might make.
func getFrame(xid int, path string, watch bool) []byte { return frame(xid, opGetData, path, watch) }

const opGetData = 4

func answerFrame(xid int, zxid int64, code int, body ...any) []byte {
	return frame(append([]any{xid, zxid, code}, body...)...)
}

var stat [68]byte
