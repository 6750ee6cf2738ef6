package zktest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"time"
)

// maxFrame is the longest request the server reads, ZooKeeper's own default.
const maxFrame = 0xfffff

// trustedFrame is the longest frame for which there is room before it is there.
const trustedFrame = 16 << 10

var errFrameSize = errors.New("zktest: frame length out of range")

// conn is the server's side of one connection. Two goroutines work for it: serve
// reads requests and carries them out in order, deliver writes what is in out. An
// answer that can go at once is written by serve itself, see outbox.writeReady.
// Whichever ends first closes the connection, which ends the other.
type conn struct {
	srv  *Server
	host *Host // from which the client has dialed, or nil
	seq  int64 // the order of acceptance
	id   int64 // the order of first requests; 0 before
	nc   net.Conn
	out  *outbox
	done chan struct{}    // closed with the connection
	now  func([]byte) int // writes without waiting, as much as goes; nil if nc cannot
	born time.Time

	reading atomic.Bool // serve waits for a frame
	behind  bool        // the request came together with the one before; used by serve only

	dice *rand.Rand // used by serve only; nil without WithRandom

	// The rest is guarded by srv.mu.
	key     int64    // of the client, for WithRandom
	ending  *alarm   // not nil while the end of the connection is on its way
	sess    *session // nil until the handshake
	ids     []ID     // who the client is
	closed  bool
	mute    bool // black hole: bytes come in and are forgotten, none go out
	deaf    bool // half-open: bytes come in and are forgotten
	silent  bool // half-open: none go out
	traffic traffic
}

// start takes a connection from a host, nil for none, into service. It reports false,
// and closes nc, if the server is not accepting any. A black hole hides that, too.
func (s *Server) start(nc net.Conn, h *Host) bool {
	s.mu.Lock()
	defer s.unlock()
	isolated := h != nil && h.isolated
	if s.closed || (s.stopped || s.refusing) && !isolated {
		nc.Close()
		return false
	}
	if s.member != nil && s.member.leader == nil && !s.partitioned && !isolated {
		nc.Close() // a process without a leader accepts connections and closes them
		return true
	}
	s.accepted++
	c := &conn{
		srv: s, host: h, seq: s.accepted, nc: nc, done: make(chan struct{}),
		out: newOutbox(func() { nc.Close() }, &s.rest, &s.queued),
		now: instantWriter(nc), born: s.clock.Now(),
		ids: []ID{ipID(nc.RemoteAddr().String())},
	}
	if s.partitioned || isolated {
		c.blackHole()
	}
	if p, inMemory := nc.(*pipeConn); inMemory {
		p.in.rest, p.out.rest = &s.rest, &s.rest
	}
	s.conns[c] = struct{}{}
	s.wg.Go(c.serve)
	s.wg.Go(c.deliver)
	return true
}

func (c *conn) serve() {
	s := c.srv
	r := bufio.NewReader(c.nc)
	if word := fourLetterWord(r); word != "" {
		c.answerWord(word, r)
		return
	}
	decode := c.decodeConnect
	for {
		c.behind = r.Buffered() > 0
		c.reading.Store(true)
		s.rest.came()
		frame, err := readFrame(r)
		c.reading.Store(false)
		if err != nil {
			break
		}
		x, err := decode(frame)
		if err != nil {
			break
		}
		if !c.travel(x) {
			break
		}
		more := c.handle(x)
		c.send(r.Buffered() > 0)
		if !more {
			return
		}
		decode = c.decodeRequest
	}
	c.close()
}

// send sends what handle has queued. A client that has sent more than one request gets
// the answers together.
func (c *conn) send(busy bool) {
	if c.now == nil || busy {
		c.out.signal()
		return
	}
	c.out.writeReady(c.now)
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
		if f.held() && (w.Flush() != nil || !f.wait(c.srv.clock, c.done)) {
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
	c.ending.stop()
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
	if c.mute || c.silent {
		c.mute = true
		c.detach()
		return
	}
	c.end((*conn).closeLocked)
}

// end does how to the connection. Under WithRandom the end takes its time to get to
// the client, as requests do: what was sent before it arrives before it, and no two
// clients hear of theirs at once.
func (c *conn) end(how func(*conn)) {
	if c.srv.sim == nil || c.srv.closing {
		how(c)
		return
	}
	if c.closed || c.ending != nil {
		return
	}
	c.deaf = true
	c.detach()
	c.ending = c.srv.after(c.srv.slot(time.Microsecond, 1+c.key%998), func() {
		c.srv.mu.Lock()
		defer c.srv.unlock()
		how(c)
	})
}

// hears reports whether requests on the connection have any effect.
func (c *conn) hears() bool { return !c.closed && !c.mute && !c.deaf }

// blackHole makes the connection mute.
func (c *conn) blackHole() {
	c.mute = true
	c.out.drop()
}

// broken reports whether one direction of the connection, or both, is dead.
func (c *conn) broken() bool { return c.mute || c.deaf || c.silent }

// silence lets nothing out any more.
func (c *conn) silence() {
	c.silent = true
	c.out.drop()
}

// reset ends the connection the way TCP's RST does.
func (c *conn) reset() { c.end((*conn).resetNow) }

func (c *conn) resetNow() {
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
