package transport

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Conn is one connection of a session. The library has one goroutine that
// writes to it and one that reads from it.
type Conn struct {
	net.Conn // the library uses only the addresses, and a write deadline that it resets at once
	link     *Link

	// Owned by the reading goroutine.
	in          *bufio.Reader
	buf         []byte        // the current frame, reused
	rest        []byte        // the part of the frame that the library has not read
	readTimeout time.Duration // how long the library waits for a frame
	handshake   handshake
	sasl        *SASL // nil for none

	done  chan struct{} // ends the connection's heartbeat
	ended chan struct{} // closed when every call has failed

	// Protected by link.mu.
	out              []byte    // complete frames to be written
	changed          sync.Cond // of out and closed; only flush waits for it
	spare            []byte    // swapped with out
	connectSent      bool      // the ConnectRequest is queued
	established      bool      // the session is confirmed; watches are queued
	establishedAt    time.Time
	requestedSession int64 // session id in the ConnectRequest
	connectSentAt    time.Time
	inflight         inflight
	waiters          list.List // of *Waiter; oldest first
	waitingWatches   int       // how many waiters set persistent watches
	ending           bool      // the peer or this client is ending the connection
	hungUp           bool      // ended by the peer, or because of its data
	closed           bool      // no further call may be added
}

func newConn(l *Link, nc net.Conn) *Conn {
	c := &Conn{
		Conn:  nc,
		link:  l,
		in:    bufio.NewReaderSize(nc, 32<<10),
		done:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	c.changed.L = &l.mu
	return c
}

// Write takes one frame from the library and never fails. The library writes each frame
// with one call. Any other data ends the connection.
func (c *Conn) Write(frame []byte) (int, error) {
	c.link.mu.Lock()
	err := c.outgoing(frame)
	c.link.mu.Unlock()
	if err != nil {
		c.Close()
		return len(frame), nil
	}
	c.signal()
	return len(frame), nil
}

func (c *Conn) outgoing(frame []byte) error {
	if len(frame) < proto.LengthSize || frameLength(frame) != len(frame)-proto.LengthSize {
		return errMalformed
	}
	if !c.connectSent {
		return c.sendConnectRequest(frame)
	}
	h, ok := proto.ReadRequestHeader(frame[proto.LengthSize:])
	if !ok {
		return errMalformed
	}
	c.inflight.sent(h, c.link.cfg.Clock(), nil)
	c.out = append(c.out, frame...)
	return nil
}

// signal makes flush look for frames to write.
func (c *Conn) signal() { c.changed.Signal() }

// flush writes queued frames until the connection ends. Frames that are queued during a
// write go out with the next write. Only flush writes to the peer: otherwise, a peer
// that does not read would block callers beyond their contexts, and the library beyond
// its next ping.
func (c *Conn) flush() {
	for batch := c.nextBatch(nil); batch != nil; batch = c.nextBatch(batch) {
		if _, err := c.Conn.Write(batch); err != nil {
			c.end(err) // makes the library's Read fail
		}
	}
}

// nextBatch waits for frames, and takes the memory of the written ones. It returns nil
// when the connection has ended.
func (c *Conn) nextBatch(written []byte) []byte {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if cap(written) <= spareSize { // do not keep the memory of a long request
		c.spare = written
	}
	for len(c.out) == 0 && !c.closed {
		c.changed.Wait()
	}
	if c.closed {
		return nil
	}
	batch := c.out
	c.out, c.spare = c.spare[:0], nil
	c.admitWaitersLocked()
	return batch
}

// spareSize is how many bytes of memory are kept from a written batch for the next
// batch, and from an answer for the next answer.
const spareSize = 256 << 10

// Read gives the library whole frames, after checking them.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		frame, err := c.readFrame()
		if err == nil {
			c.rest, err = c.incoming(frame)
		}
		if err != nil {
			c.end(err) // fails all calls, and frees a flush that is blocked in Write
			c.handshakeFailed(err)
			return 0, err
		}
		// The library has seen no frame, but the server is not silent.
		if len(c.rest) == 0 && c.readTimeout > 0 {
			c.Conn.SetReadDeadline(time.Now().Add(c.readTimeout))
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// readFrame returns the next frame, including its length.
func (c *Conn) readFrame() ([]byte, error) {
	length, err := c.in.Peek(proto.LengthSize)
	if err != nil {
		return nil, err
	}
	n, limit := frameLength(length), maxFrame
	if !c.handshake.done {
		limit = maxHandshakeFrame
	}
	// A ConnectResponse is no shorter than a reply's header.
	if n < proto.ReplyHeaderSize || n > limit && !c.handshake.done {
		return nil, fmt.Errorf("%w: length %d", errMalformed, n)
	}
	if cap(c.buf) > spareSize { // do not keep the memory of a long answer
		c.buf = nil
	}
	if c.buf, err = readGrowing(c.in, c.buf[:0], proto.LengthSize+proto.ReplyHeaderSize); err != nil {
		return nil, err
	}
	if n > limit {
		return c.buf, c.skipAnswer(n)
	}
	c.buf, err = readGrowing(c.in, c.buf, proto.LengthSize+n)
	return c.buf, err
}

// incoming checks one frame and returns the bytes for the library: the frame itself,
// another frame, or nothing.
func (c *Conn) incoming(frame []byte) ([]byte, error) {
	if !c.handshake.done {
		return c.handleHandshakeFrame(frame)
	}
	r, err := parseReply(frame[proto.LengthSize:])
	if err != nil {
		return nil, err
	}
	if r.Xid == proto.XidNotification {
		return nil, c.handleNotification(r)
	}
	call, sent, known := c.matchReply(r)
	if !known { // the reply answers no request, so it proves no contact
		return nil, nil
	}
	if isAboutSession(sent.Op, r) {
		// The caller gets the error only when the connection has ended, so that its
		// next attempt uses another connection.
		c.Close()
		err = errSessionRefused
	}
	switch {
	case call != nil:
		if frameLength(frame) > maxFrame {
			call.err = ErrAnswerTooLong
		}
		call.completeWith(r)
		return nil, err
	default:
		return frame, err
	}
}

// isAboutSession reports whether a server refuses a request because the session is over
// or has moved to another server, or because the server requires an authentication that
// the client lacks. The connection is then useless, and only a handshake shows whether
// the session is over. The answer to a failed transaction begins with an error, so
// isAboutSession reads the body only then.
func isAboutSession(op int32, r reply) bool {
	code := r.Code
	if op == proto.OpMulti && code == proto.CodeOK {
		code = proto.FailureOfMulti(r.body)
	}
	return code == proto.CodeSessionExpired || code == proto.CodeSessionMoved || code == proto.CodeSessionClosedNeedsSASL
}

// errSessionRefused ends a connection whose server does not serve the session.
var errSessionRefused = errors.New("the session is over, or at another server, or needs authentication")

// matchReply finds the request that a reply belongs to. It returns the call if the
// request belongs to this package.
func (c *Conn) matchReply(r reply) (call *Call, sent sentRequest, known bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.link.retired {
		return nil, sent, false
	}
	sent, known = c.inflight.answered(r.Xid)
	if !known {
		return nil, sent, false
	}
	c.link.notServed = c.link.notServed || r.Code == proto.CodeSessionClosedNeedsSASL
	// Servers do not renew the session with an auth request, or with a request that
	// they refuse because of the session.
	if !c.link.cfg.LeaderConfirmed && sent.Op != proto.OpAuth && !isAboutSession(sent.Op, r) {
		c.link.contactLocked(sent.at)
	}
	if call = sent.call; call != nil {
		c.link.answers++
		if !call.ignoreZxid && !isRefusedSetWatches(sent.Op, r) {
			c.link.lastZxid = max(c.link.lastZxid, r.Zxid)
		}
	}
	c.admitWaitersLocked()
	return call, sent, true
}

// handleNotification passes on a watch event. It ignores an event without an absolute
// path, which concerns no watched node.
func (c *Conn) handleNotification(r reply) error {
	ev, err := parseEvent(r)
	if err == nil && strings.HasPrefix(ev.Path, "/") && c.link.cfg.Fired != nil {
		c.link.cfg.Fired(ev)
	}
	return err
}

// SetReadDeadline is called by the library to notice a silent server. Until the
// handshake is done, the deadline from Wrap applies instead.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.handshake.done {
		return nil
	}
	c.readTimeout = 0
	if !t.IsZero() {
		c.readTimeout = time.Until(t)
	}
	return c.Conn.SetReadDeadline(t)
}

// end closes the connection because of an error, or because this client closes it if err
// is nil. A read and a write may fail at the same moment, and both fail when this client
// closes the connection, so only the first end counts. The requests in flight may be the
// reason for the end, except if the peer was silent.
func (c *Conn) end(err error) {
	c.link.mu.Lock()
	first := !c.ending
	if first {
		c.ending, c.hungUp = true, err != nil && c.established && !c.link.closed && !os.IsTimeout(err)
	}
	c.link.mu.Unlock()
	if first {
		close(c.done)
		c.Conn.Close()
		c.failCalls()
		close(c.ended)
	}
	<-c.ended
}

// Close ends the connection. It does not wait for the connection's goroutines,
// because they call it; Link.Close does.
func (c *Conn) Close() error {
	c.end(nil)
	return nil
}

// skipAnswer keeps only the header of an answer that is too long for memory. Ending the
// connection instead would only repeat the request and its answer.
func (c *Conn) skipAnswer(n int) error {
	h, _, _ := proto.ReadReplyHeader(c.buf[proto.LengthSize:])
	c.link.mu.Lock()
	sent, _ := c.inflight.find(h.Xid)
	ours := c.handshake.done && sent.call != nil
	c.link.mu.Unlock()
	if !ours {
		return fmt.Errorf("%w: length %d", errMalformed, n)
	}
	_, err := c.in.Discard(n - proto.ReplyHeaderSize)
	return err
}
