package transport

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

// Conn is one connection of a session. The library has one goroutine that writes and one that reads.
type Conn struct {
	net.Conn // addresses only; every other method is overridden below
	link     *Link

	// Owned by the reading goroutine.
	in        *bufio.Reader
	buf       []byte        // the current frame, reused
	rest      []byte        // what the library has not read of it
	patience  time.Duration // how long the library waits for a frame
	handshake handshake

	wake      chan struct{} // capacity 1: there is something in out
	done      chan struct{} // closed by Close; ends the connection's goroutines
	closeOnce sync.Once

	// Protected by link.mu.
	out         []byte // complete frames to be written
	spare       []byte // changes places with out
	writing     bool   // somebody writes a batch
	greeted     bool   // the ConnectRequest has gone out
	established bool   // the session is confirmed on this connection, and the watches are on their way
	asked       int64  // session id in the ConnectRequest
	askedAt     time.Time
	clock       clock
	calls       map[int32]*Call // by xid, not answered yet
	room        chan struct{}   // closed when there is room for calls; nil if nobody waits for that
	closed      bool            // no call may be added
}

func newConn(l *Link, nc net.Conn) *Conn {
	return &Conn{
		Conn:  nc,
		link:  l,
		in:    bufio.NewReaderSize(nc, 32<<10),
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
		calls: map[int32]*Call{},
	}
}

// Write takes one frame of the library's and never fails. The library writes each frame with one call; anything else
// ends the connection.
//
// If nothing else is under way, the frame is written here and now, which is what a single caller wants. Otherwise the
// flusher writes it together with what comes in the meantime.
func (c *Conn) Write(frame []byte) (int, error) {
	c.link.mu.Lock()
	idle := c.clock.idle()
	err := c.outgoing(frame)
	c.link.mu.Unlock()
	if err != nil {
		c.Close()
		return len(frame), nil
	}
	c.send(idle)
	return len(frame), nil
}

func (c *Conn) outgoing(frame []byte) error {
	if len(frame) < lengthSize || frameLength(frame) != len(frame)-lengthSize {
		return errMalformed
	}
	if !c.greeted {
		return c.greet(frame)
	}
	r, err := parseRequest(frame[lengthSize:])
	if err != nil {
		return err
	}
	c.clock.sent(r, time.Now())
	c.out = append(c.out, frame...)
	return nil
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// flush writes what is queued. It ends with the connection.
func (c *Conn) flush() {
	for {
		select {
		case <-c.wake:
			for c.writeBatch(math.MaxInt) {
			}
		case <-c.done:
			return
		}
	}
}

// send has the queue written: by the caller, if that is quick, else by the flusher.
func (c *Conn) send(atOnce bool) {
	if !atOnce || !c.writeBatch(writeAtOnce) {
		c.signal()
	}
}

// writeAtOnce is how much may be written by a caller itself. It fits into the buffers of a connection on which nothing
// else is under way, so that the caller is not held up.
const writeAtOnce = 4 << 10

// writeBatch writes what is queued, if it is no more than limit and nobody is at it, and reports whether it did.
func (c *Conn) writeBatch(limit int) bool {
	batch := c.nextBatch(limit)
	if batch == nil {
		return false
	}
	_, err := c.Conn.Write(batch)
	c.batchWritten(batch)
	if err != nil {
		c.Close() // the reader sees it
	}
	return err == nil
}

func (c *Conn) nextBatch(limit int) []byte {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.writing || len(c.out) == 0 || len(c.out) > limit {
		return nil
	}
	batch := c.out
	c.out, c.writing = c.spare[:0], true
	return batch
}

func (c *Conn) batchWritten(batch []byte) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.spare, c.writing = batch, false
	if cap(batch) > spareSize { // one long request must not occupy memory for good
		c.spare = nil
	}
	c.makeRoomLocked()
	if len(c.out) > 0 { // queued meanwhile, by somebody who found us at it
		c.signal()
	}
}

// spareSize is how much of a written batch's memory is kept for the next.
const spareSize = 256 << 10

// Read gives the library whole frames: what it is about to handle has been looked at, and nothing else.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		frame, err := c.readFrame()
		if err == nil {
			c.rest, err = c.incoming(frame)
		}
		if err != nil {
			c.Close() // the library gives up reading without that, and a Write that waits would wait for ever
			c.handshakeFailed(err)
			return 0, err
		}
		if len(c.rest) == 0 && c.patience > 0 { // the library has seen nothing, but the server is not mute
			c.Conn.SetReadDeadline(time.Now().Add(c.patience))
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *Conn) readFrame() ([]byte, error) {
	length, err := c.in.Peek(lengthSize)
	if err != nil {
		return nil, err
	}
	n := frameLength(length)
	if n < replyHeaderSize || n > maxFrame { // a ConnectResponse is no shorter than a reply's header
		return nil, fmt.Errorf("%w: length %d", errMalformed, n)
	}
	if cap(c.buf) < lengthSize+n || cap(c.buf) > spareSize {
		c.buf = make([]byte, lengthSize+n)
	}
	frame := c.buf[:lengthSize+n]
	_, err = io.ReadFull(c.in, frame)
	return frame, err
}

// incoming looks at one frame and returns what the library gets instead: the frame itself, another one, or nothing.
func (c *Conn) incoming(frame []byte) ([]byte, error) {
	if !c.handshake.over {
		return c.shakeHands(frame)
	}
	r, err := parseReply(frame[lengthSize:])
	if err != nil {
		return nil, err
	}
	if r.xid == xidNotification {
		return nil, c.notified(r)
	}
	switch call, known := c.answered(r); {
	case !known: // it is no sign of life for our requests, nor for the library's
		return nil, nil
	case call != nil:
		call.finish(r)
		return nil, nil
	default:
		return frame, nil
	}
}

// answered settles the request that a reply belongs to, and returns it if it is one of ours.
func (c *Conn) answered(r reply) (call *Call, known bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	sent, known := c.clock.answered(r.xid)
	if !known {
		return nil, false
	}
	if !c.link.cfg.Strict && sent.op != opSetAuth { // which servers answer without a word to the tracker of sessions
		c.link.contactLocked(sent.at)
	}
	call = c.calls[r.xid]
	if call != nil {
		delete(c.calls, r.xid)
		if !call.partial {
			c.link.lastZxid = max(c.link.lastZxid, r.zxid)
		}
		c.makeRoomLocked()
	}
	return call, true
}

// SetReadDeadline is the library's way to notice a mute server. Until the handshake is over, the deadline that was
// given to Wrap stands instead.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.handshake.over {
		return nil
	}
	c.patience = 0
	if !t.IsZero() {
		c.patience = time.Until(t)
	}
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline does nothing: writes are queued. A peer that does not read does not answer either, and the read
// deadline finds that.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the read deadline.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// Close ends the connection. It does not wait for the connection's goroutines, because they call it; Link.Close does.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.done)
		c.Conn.Close()
		c.loseCalls()
	})
	return nil
}
