package memnet

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// capacity is how many bytes one direction holds before a writer must wait.
const capacity = 256 << 10

// stream is one direction of a connection.
type stream struct {
	mu   sync.Mutex
	cond sync.Cond // one of the following fields has changed

	buf          []byte // buf[off:] was written and not yet read
	off          int
	end          error // the reader's error after the last byte; nil until the writer closes
	readerClosed bool

	readBy, writeBy deadline
}

// deadline is a point in time, with a timer that wakes the waiting goroutines. The timer is
// created at the first wait and reused, and runs only while a goroutine waits.
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

// waitLocked returns when something has changed or the deadline has passed.
func (s *stream) waitLocked(d *deadline) {
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

// wakeAll takes the lock, so that it cannot run after a goroutine has read the clock and
// before that goroutine waits. The goroutine would miss it.
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
		s.waitLocked(&s.readBy)
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
		if room := s.roomLocked(len(p)); room > 0 {
			s.buf = append(s.buf, p[:room]...)
			p, n = p[room:], n+room
			s.cond.Broadcast()
			continue
		}
		s.waitLocked(&s.writeBy)
	}
}

// roomLocked returns how many of the wanted bytes fit, and makes space for these bytes in buf.
func (s *stream) roomLocked(want int) int {
	if s.off == len(s.buf) {
		s.buf, s.off = s.buf[:0], 0
	}
	if s.off > 0 && len(s.buf)+want > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.off:])]
		s.off = 0
	}
	return min(want, capacity-(len(s.buf)-s.off))
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
