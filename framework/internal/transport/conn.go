package transport

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Conn is one connection of a session. The library has one goroutine that
// writes to it and one that reads from it.
type Conn struct {
	net.Conn // the library uses only the addresses, and a write deadline that it takes back at once
	link     *Link

	// Owned by the reading goroutine.
	in          *bufio.Reader
	buf         []byte        // the current frame, reused
	rest        []byte        // the part of it that the library has not read
	readTimeout time.Duration // how long the library waits for a frame
	handshake   handshake
	sasl        *SASL // nil for none

	wake  chan struct{} // capacity 1: there is something in out
	done  chan struct{} // ends the connection's goroutines
	ended chan struct{} // closed when every call has failed

	// Protected by link.mu.
	out              []byte // complete frames to be written
	spare            []byte // changes places with out
	connectSent      bool   // the ConnectRequest is queued
	established      bool   // the session is confirmed; watches are queued
	establishedAt    time.Time
	requestedSession int64 // session id in the ConnectRequest
	connectSentAt    time.Time
	inflight         inflight
	waiters          list.List // each element is a *Waiter; oldest first
	waitingWatches   int       // how many of them set persistent watches
	ending           bool      // by the peer or by us
	hungUp           bool      // by the peer, or for what it has sent
	closed           bool      // no call may be added
}

func newConn(l *Link, nc net.Conn) *Conn {
	return &Conn{
		Conn:  nc,
		link:  l,
		in:    bufio.NewReaderSize(nc, 32<<10),
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
		ended: make(chan struct{}),
	}
}

// Write takes one frame of the library's and never fails. The library writes
// each frame with one call. Anything else ends the connection.
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

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// flush writes what is queued until the connection ends. Frames that are queued
// during a write go out with the next one. Only flush writes: a peer that does
// not read would otherwise hold up a caller beyond its context, and the library
// beyond its next ping.
func (c *Conn) flush() {
	for {
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
		for batch := c.nextBatch(); batch != nil; batch = c.nextBatch() {
			_, err := c.Conn.Write(batch)
			c.batchWritten(batch)
			if err != nil {
				c.end(err) // the library's Read fails then
			}
		}
	}
}

func (c *Conn) nextBatch() []byte {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.closed || len(c.out) == 0 {
		return nil
	}
	batch := c.out
	c.out, c.spare = c.spare[:0], nil
	c.admitWaitersLocked()
	return batch
}

func (c *Conn) batchWritten(batch []byte) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if cap(batch) <= spareSize { // do not keep the memory of a long request
		c.spare = batch
	}
}

// spareSize is how much of a written batch's memory, in bytes, is kept for the
// next batch, and how much of an answer's for the next one.
const spareSize = 256 << 10

// Read gives the library whole frames, and only after it has checked them.
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

// firstChunk is how many bytes are allocated for a long frame before any of it
// has arrived.
const firstChunk = 32 << 10

// readGrowing appends n bytes from r to buf. It allocates in proportion to what
// has arrived, and not to the length that was announced.
func readGrowing(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		part := min(n-len(buf), max(len(buf), firstChunk, cap(buf)-len(buf)))
		buf = slices.Grow(buf, part)
		end := len(buf) + part
		if _, err := io.ReadFull(r, buf[len(buf):end]); err != nil {
			return buf, err
		}
		buf = buf[:end]
	}
	return buf, nil
}

// incoming checks one frame and returns what the library gets instead: the
// frame itself, another one, or no bytes.
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
	if !known { // it answers no request, so it proves nothing
		return nil, nil
	}
	if isAboutSession(sent.Op, r) {
		// The caller learns of it when the connection is over, so that the next
		// attempt is made on another one.
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

// isAboutSession reports whether a server refuses a request because the session is
// over, or at another server, or because the server requires an authentication that
// the client does not have. The connection is of no use then, and only a handshake
// tells whether the session is over. The answer to a transaction that has failed
// begins with an error, and is read only then.
func isAboutSession(op int32, r reply) bool {
	code := r.Code
	if op == proto.OpMulti && code == proto.CodeOK {
		code = proto.FailureOfMulti(r.body)
	}
	return code == proto.CodeSessionExpired || code == proto.CodeSessionMoved || code == proto.CodeSessionClosedNeedsSASL
}

// errSessionRefused ends a connection whose server does not serve the session.
var errSessionRefused = errors.New("the session is over, or at another server, or needs authentication")

// matchReply finds the request that a reply belongs to. It returns the call if
// the request is one of ours.
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
	// Servers do not renew the session with an auth request, nor with a request that
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

// handleNotification passes a watch event on. One without an absolute path is about
// no node that anybody watches.
func (c *Conn) handleNotification(r reply) error {
	ev, err := parseEvent(r)
	if err == nil && strings.HasPrefix(ev.Path, "/") && c.link.cfg.Fired != nil {
		c.link.cfg.Fired(ev)
	}
	return err
}

// SetReadDeadline is how the library notices a server that has gone silent.
// Until the handshake is done, the deadline that was given to Wrap stands
// instead.
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

// end closes the connection for an error, unless we have closed it. A read and a
// write may fail at the same moment, and both fail when we close the connection. So
// only the first end counts. The requests that are in flight may be the reason. A
// peer that is silent has not ended the connection for a request.
func (c *Conn) end(err error) {
	if c.beginEnd() {
		c.link.mu.Lock()
		c.hungUp = c.established && !c.link.closed && !os.IsTimeout(err)
		c.link.mu.Unlock()
		c.finishEnd()
		return
	}
	<-c.ended
}

// Close ends the connection. It does not wait for the connection's goroutines,
// because they call it; Link.Close does.
func (c *Conn) Close() error {
	if c.beginEnd() {
		c.finishEnd()
	}
	<-c.ended
	return nil
}

// beginEnd reports whether nothing has ended the connection before.
func (c *Conn) beginEnd() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	first := !c.ending
	c.ending = true
	return first
}

func (c *Conn) finishEnd() {
	close(c.done)
	c.Conn.Close()
	c.failCalls()
	close(c.ended)
}

// skipAnswer leaves out all but the header of an answer that is too long for
// memory. Were the connection to end, the request would be made again, and
// answered in the same way.
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
