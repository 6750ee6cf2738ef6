package zktest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// maxFrame is the longest request the server reads, ZooKeeper's own default.
const maxFrame = 0xfffff

// trustedFrame is the longest frame for which there is room before it is there.
const trustedFrame = 16 << 10

var errFrameSize = errors.New("zktest: frame length out of range")

// conn is the server's side of one connection. Two goroutines work for it: serve
// reads requests and carries them out in order, deliver writes what is in out.
// Whichever ends first closes the connection, which ends the other.
type conn struct {
	srv  *Server
	id   int64
	nc   net.Conn
	out  *outbox
	done chan struct{}    // closed with the connection
	now  func([]byte) int // writes without waiting, as much as goes; nil if nc cannot
	born time.Time

	// The rest is guarded by srv.mu.
	sess    *session // nil until the handshake
	ids     []ID     // who the client is
	closed  bool
	mute    bool // black hole: bytes come in and are forgotten, none go out
	traffic traffic
}

// start takes a connection into service. It reports false, and closes nc, if the
// server is not accepting any.
func (s *Server) start(nc net.Conn) bool {
	s.mu.Lock()
	defer s.unlock()
	if s.closed || s.stopped || s.refusing {
		nc.Close()
		return false
	}
	s.accepted++
	c := &conn{
		srv: s, id: s.accepted, nc: nc, done: make(chan struct{}), born: time.Now(),
		out: newOutbox(func() { nc.Close() }),
		ids: []ID{ipID(nc.RemoteAddr().String())},
	}
	c.out.byAll, c.now = &s.queued, instantWriter(nc)
	if s.partitioned {
		c.blackHole()
	}
	s.conns[c] = struct{}{}
	s.wg.Go(c.serve)
	s.wg.Go(c.deliver)
	return true
}

func (c *conn) serve() {
	r := bufio.NewReader(c.nc)
	if word := fourLetterWord(r); word != "" {
		c.answerWord(word, r)
		return
	}
	decode := c.decodeConnect
	for {
		frame, err := readFrame(r)
		if err != nil {
			break
		}
		x, err := decode(frame)
		if err != nil {
			break
		}
		more := c.handle(x)
		if c.now != nil && r.Buffered() == 0 {
			c.out.writeReady(c.now)
		} else {
			c.out.signal()
		}
		if !more {
			return
		}
		decode = c.decodeRequest
	}
	c.close()
}

// readFrame returns the next frame without its length. What a client only announces
// takes no memory.
func readFrame(r io.Reader) ([]byte, error) {
	var length [lengthSize]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, errFrameSize
	}
	if n <= trustedFrame {
		frame := make([]byte, n)
		_, err := io.ReadFull(r, frame)
		return frame, err
	}
	var frame bytes.Buffer
	if _, err := io.CopyN(&frame, r, int64(n)); err != nil {
		return nil, err
	}
	return frame.Bytes(), nil
}

// deliver writes frames in order and flushes when there is none left.
func (c *conn) deliver() {
	defer c.close()
	w := bufio.NewWriter(c.nc)
	for {
		f, finished := c.out.head()
		if f == nil {
			if w.Flush() != nil || finished {
				return
			}
			c.out.flushed()
			select {
			case <-c.out.wake:
			case <-c.done:
				return
			}
			continue
		}
		if f.held() && (w.Flush() != nil || !f.wait(c.done)) {
			return
		}
		if !c.out.take(f) {
			continue
		}
		if _, err := w.Write(f.bytes); err != nil {
			return
		}
	}
}

func (c *conn) close() {
	c.srv.mu.Lock()
	defer c.srv.unlock()
	c.closeLocked()
}

// closeLocked ends the connection at once: what is queued is lost, and so are
// its watches. The session lives on.
func (c *conn) closeLocked() {
	if c.closed {
		return
	}
	c.closed = true
	close(c.done)
	c.nc.Close()
	c.out.drop()
	delete(c.srv.conns, c)
	c.detach()
}

// detach takes everything the server keeps for the connection away from it.
func (c *conn) detach() {
	c.srv.watches.removeConn(c)
	if c.sess != nil && c.sess.conn == c {
		c.sess.conn = nil
	}
}

// sever is how the server itself ends a connection: the client of a connection
// that has become a black hole cannot see that.
func (c *conn) sever() {
	if c.mute {
		c.detach()
		return
	}
	c.closeLocked()
}

// hears reports whether requests on the connection have any effect.
func (c *conn) hears() bool { return !c.closed && !c.mute }

// blackHole makes the connection mute.
func (c *conn) blackHole() {
	c.mute = true
	c.out.drop()
}

// reset ends the connection the way TCP's RST does.
func (c *conn) reset() {
	if nc, canReset := c.nc.(interface{ SetLinger(sec int) error }); canReset {
		_ = nc.SetLinger(0) // it only makes the end less gentle
	}
	c.closeLocked()
}

func (c *conn) addID(id ID) {
	if !slices.Contains(c.ids, id) {
		c.ids = append(c.ids, id)
	}
}

func nowMillis() int64 { return time.Now().UnixMilli() }
