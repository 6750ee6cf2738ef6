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
	in   *bufio.Reader
	buf  []byte // the current frame, reused
	rest []byte // what the library has not read of it

	patience time.Duration // how long the library waits for a frame; owned by the reading goroutine

	wake      chan struct{} // capacity 1: there is something in out
	done      chan struct{} // closed by Close; ends the flusher
	closeOnce sync.Once

	// Protected by link.mu.
	out         []byte // complete frames to be written
	spare       []byte // changes places with out
	writing     bool   // somebody writes a batch
	greeted     bool   // the ConnectRequest has gone out
	established bool   // the session is confirmed on this connection
	asked       int64  // session id in the ConnectRequest
	seenBefore  int64  // the newest zxid in an answer to a call before this connection
	newest      int64  // the same on this connection
	askedAt     time.Time
	clock       clock
	gate        gate
	withdrawals map[int32]Watch // by xid, unanswered on this connection
	calls       map[int32]*Call // likewise
	closed      bool            // no call may be added
}

func newConn(l *Link, nc net.Conn) *Conn {
	return &Conn{
		Conn:        nc,
		link:        l,
		in:          bufio.NewReaderSize(nc, 32<<10),
		wake:        make(chan struct{}, 1),
		done:        make(chan struct{}),
		withdrawals: map[int32]Watch{},
		calls:       map[int32]*Call{},
	}
}

// Write takes one frame and never fails. The library writes each frame with one call; anything else ends the
// connection.
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
		return c.handshakeSent(frame)
	}
	r, err := parseRequest(frame[lengthSize:])
	if err != nil {
		return err
	}
	if !c.gate.passes(r.op) {
		c.gate.hold(r, frame)
		return nil
	}
	c.enqueue(r, frame)
	if c.gate.passed(r) {
		c.openGate()
	}
	return nil
}

func (c *Conn) openGate() {
	c.withdrawLocked()
	held, requests := c.gate.release()
	now := time.Now()
	for _, r := range requests {
		c.clock.sent(r, now)
	}
	c.out = append(c.out, held...)
}

func (c *Conn) enqueue(r request, frame []byte) {
	c.clock.sent(r, time.Now())
	c.out = append(c.out, frame...)
	if r.op == opSetWatches {
		c.raiseZxid(c.out[len(c.out)-len(frame):], zxidInSetWatches)
	}
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// flush is the connection's only goroutine and ends with it.
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
	if len(c.out) > 0 { // queued meanwhile, by somebody who found us at it
		c.signal()
	}
}

// Read gives the library whole frames: what it is about to handle has been looked at, and nothing else.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		frame, err := c.readFrame()
		if err != nil {
			c.Close() // the library gives up reading without that, and a Write that waits would wait for ever
			return 0, err
		}
		c.link.mu.Lock()
		c.rest, err = c.incoming(frame)
		c.link.mu.Unlock()
		if err != nil {
			c.Close()
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
	if cap(c.buf) < lengthSize+n {
		c.buf = make([]byte, lengthSize+n)
	}
	frame := c.buf[:lengthSize+n]
	_, err = io.ReadFull(c.in, frame)
	return frame, err
}

// incoming looks at one frame and returns what the library gets instead: the frame itself, another one, or nothing.
func (c *Conn) incoming(frame []byte) ([]byte, error) {
	if !c.established {
		return frame, c.handshakeAnswered(frame)
	}
	r, err := parseReply(frame[lengthSize:])
	if err != nil {
		return nil, err
	}
	if r.xid == xidNotification {
		n, err := parseNotification(r.body)
		c.link.watches.fired(n)
		return frame, err
	}
	sent, known := c.clock.answered(r.xid)
	if !known { // the library logs and ignores it; it is no sign of life for our requests
		return frame, nil
	}
	c.contact(sent.at)
	if call, ours := c.calls[r.xid]; ours {
		c.answerCall(call, r)
		return nil, nil
	}
	if w, ours := c.withdrawals[r.xid]; ours {
		delete(c.withdrawals, r.xid)
		return c.withdrawn(w), nil
	}
	if r.err == 0 && !plausible(sent.op, r.body) {
		return nil, errMalformed
	}
	c.link.watches.answered(sent.watch, r.err)
	return frame, nil
}

func (c *Conn) contact(sent time.Time) {
	if sent.After(c.link.contact) {
		c.link.contact = sent
	}
}

// SetReadDeadline is the library's way to notice a mute server. Until the handshake is over, the deadline that was
// given to Wrap stands instead.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.link.mu.Lock()
	established := c.established
	c.link.mu.Unlock()
	if !established {
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

// Close ends the connection. It does not wait for the flusher, because the flusher calls it; Link.Close does.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.done)
		c.Conn.Close()
		c.loseCalls()
	})
	return nil
}
