package transport

import (
	"bufio"
	"fmt"
	"io"
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

	wake      chan struct{} // capacity 1: there is something in out
	done      chan struct{} // closed by Close; ends the flusher
	closeOnce sync.Once

	// Protected by link.mu.
	out         []byte // complete frames to be written
	greeted     bool   // the ConnectRequest has gone out
	established bool   // the session is confirmed on this connection
	asked       int64  // session id in the ConnectRequest
	askedAt     time.Time
	clock       clock
	gate        gate
	withdrawals map[int32]Watch // by xid, unanswered on this connection
}

func newConn(l *Link, nc net.Conn) *Conn {
	return &Conn{
		Conn:        nc,
		link:        l,
		in:          bufio.NewReaderSize(nc, 32<<10),
		wake:        make(chan struct{}, 1),
		done:        make(chan struct{}),
		withdrawals: map[int32]Watch{},
	}
}

// Write queues one frame and never fails. The library writes each frame with one call; anything else ends the
// connection.
func (c *Conn) Write(frame []byte) (int, error) {
	c.link.mu.Lock()
	err := c.outgoing(frame)
	c.link.mu.Unlock()
	if err != nil {
		c.Close()
	}
	return len(frame), nil
}

func (c *Conn) outgoing(frame []byte) error {
	if len(frame) < lengthSize || frameLength(frame) != len(frame)-lengthSize {
		return errMalformed
	}
	if !c.greeted {
		err := c.handshakeSent(frame)
		c.signal()
		return err
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
	c.signal()
}

func (c *Conn) enqueue(r request, frame []byte) {
	c.clock.sent(r, time.Now())
	c.out = append(c.out, frame...)
	c.signal()
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// flush writes what Write has queued. It is the connection's only goroutine and ends with the connection. Requests
// that are queued while one write is under way go out together in the next.
func (c *Conn) flush() {
	var spare []byte
	for {
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
		c.link.mu.Lock()
		batch := c.out
		c.out = spare[:0]
		c.link.mu.Unlock()

		if len(batch) == 0 { // the last round took it along
			continue
		}
		if _, err := c.Conn.Write(batch); err != nil {
			c.Close() // the reader sees it
			return
		}
		spare = batch
	}
}

// Read gives the library whole frames: what it is about to handle has been looked at, and nothing else.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		frame, err := c.readFrame()
		if err != nil {
			return 0, err
		}
		c.link.mu.Lock()
		c.rest, err = c.incoming(frame)
		c.link.mu.Unlock()
		if err != nil {
			c.Close()
			return 0, err
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
	if w, ours := c.withdrawals[r.xid]; ours {
		delete(c.withdrawals, r.xid)
		return c.withdrawn(w), nil
	}
	c.link.watches.answered(sent.watch, r.err)
	if isCreate(sent.op) && r.err == 0 {
		c.link.noteCreated(r)
	}
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
	})
	return nil
}
