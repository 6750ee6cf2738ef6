package zktest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// The in-memory network: connections made of two bounded byte queues, with the
// manners of TCP. Everything in it waits on condition variables and timers, so
// that it works under the virtual time of testing/synctest, where sockets do not.

// pipeCapacity is what one direction holds before a writer has to wait.
const pipeCapacity = 256 << 10

// memAddr is an address of the in-memory network.
type memAddr string

func (memAddr) Network() string  { return "tcp" }
func (a memAddr) String() string { return string(a) }

// newPipe returns the two ends of a connection to address.
func newPipe(address string) (client, server *pipeConn) {
	const clientAddr = memAddr("127.0.0.1:49152")
	up, down := newStream(), newStream()
	client = &pipeConn{in: down, out: up, local: clientAddr, remote: memAddr(address)}
	server = &pipeConn{in: up, out: down, local: memAddr(address), remote: clientAddr}
	return client, server
}

// pipeConn is one end of a connection.
type pipeConn struct {
	in, out       *stream
	local, remote memAddr
}

func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

func (c *pipeConn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// wrap gives errors the shape that those of package net have.
func (c *pipeConn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close lets the peer read what was written before, and then io.EOF. What the
// peer writes from now on fails.
func (c *pipeConn) Close() error {
	c.in.closeReader()
	c.out.closeWriter(io.EOF)
	return nil
}

// SetLinger with 0 makes the end a reset, now and not at Close: the peer cannot
// read what it has not read yet. Other values have no effect.
func (c *pipeConn) SetLinger(sec int) error {
	if sec == 0 {
		c.out.closeWriter(syscall.ECONNRESET)
	}
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

// stream is one direction of a connection.
type stream struct {
	mu   sync.Mutex
	cond sync.Cond // any of the following has changed

	buf          []byte // buf[off:] has been written and not read
	off          int
	end          error // what the reader gets after the last byte; nil while the writer is there
	readerClosed bool

	readersWaiting int
	rest           *rest // told when a reader waits for more; nil if nobody cares

	readBy, writeBy deadline
}

// deadline is a point in time and the timer that wakes whoever waits for it. The
// timer is made at the first wait, used again, and runs only while somebody waits.
type deadline struct {
	at      time.Time
	timer   *time.Timer
	waiters int
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newStream() *stream {
	s := &stream{}
	s.cond.L = &s.mu
	return s
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	d.at = t
	s.mu.Unlock()
	s.cond.Broadcast()
}

// wait returns when something has changed or the deadline has passed.
func (s *stream) wait(d *deadline) {
	if d.at.IsZero() {
		s.cond.Wait()
		return
	}
	if left := time.Until(d.at); d.timer == nil {
		d.timer = time.AfterFunc(left, s.wakeAll)
	} else {
		d.timer.Reset(left)
	}
	d.waiters++
	s.cond.Wait()
	if d.waiters--; d.waiters == 0 {
		d.timer.Stop()
	}
}

// wakeAll takes the lock so that it cannot fall between somebody's look at the
// clock and the beginning of their wait, and be missed.
func (s *stream) wakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerClosed:
			return 0, net.ErrClosed
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case errors.Is(s.end, syscall.ECONNRESET):
			return 0, s.end
		case len(p) == 0:
			return 0, nil
		case s.off < len(s.buf):
			n := copy(p, s.buf[s.off:])
			s.off += n
			s.cond.Broadcast()
			return n, nil
		case s.end != nil:
			return 0, s.end
		}
		s.readersWaiting++
		s.rest.came()
		s.wait(&s.readBy)
		s.readersWaiting--
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.end != nil:
			return n, net.ErrClosed
		case s.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		case s.readerClosed:
			return n, syscall.EPIPE
		case len(p) == 0:
			return n, nil
		}
		if room := s.room(len(p)); room > 0 {
			s.buf = append(s.buf, p[:room]...)
			p, n = p[room:], n+room
			s.cond.Broadcast()
			continue
		}
		s.wait(&s.writeBy)
	}
}

// room returns how many of want bytes fit, and makes space for them in buf.
func (s *stream) room(want int) int {
	if s.off == len(s.buf) {
		s.buf, s.off = s.buf[:0], 0
	}
	if s.off > 0 && len(s.buf)+want > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.off:])]
		s.off = 0
	}
	return min(want, pipeCapacity-(len(s.buf)-s.off))
}

func (s *stream) closeReader() {
	s.mu.Lock()
	s.readerClosed = true
	s.buf, s.off = nil, 0
	s.mu.Unlock()
	s.cond.Broadcast()
}

func (s *stream) closeWriter(end error) {
	s.mu.Lock()
	if s.end == nil {
		s.end = end
	}
	s.mu.Unlock()
	s.cond.Broadcast()
}
