package transport

import (
	"net"
	"sync"
	"time"
)

// Link is what the connections of one session share: the library makes one connection after the other for it.
type Link struct {
	conns sync.WaitGroup // one for each connection's flusher

	mu          sync.Mutex // protects the following fields and those of every Conn that say so
	conn        *Conn      // the newest
	closed      bool
	timeout     time.Duration // negotiated; 0 before the first handshake
	contact     time.Time     // when the newest answered request was sent
	watches     watchTable
	withdrawing map[Watch]struct{} // not yet answered
	ownXid      int32
	lastZxid    int64 // the newest in an answer to a call
}

// NewLink returns the link of a session that has not connected yet.
func NewLink() *Link {
	return &Link{
		watches:     watchTable{},
		withdrawing: map[Watch]struct{}{},
		ownXid:      firstOwnXid - 1,
	}
}

// Wrap returns the connection to hand to the library in place of nc, which it owns from now on. The handshake must be
// over at the given time, else reading fails.
func (l *Link) Wrap(nc net.Conn, handshakeBy time.Time) net.Conn {
	c := newConn(l, nc)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		nc.Close()
	}
	l.conn = c
	nc.SetReadDeadline(handshakeBy)
	l.conns.Go(c.flush)
	return c
}

func (l *Link) nextOwnXid() int32 {
	if l.ownXid++; l.ownXid < firstOwnXid { // beyond the largest
		l.ownXid = firstOwnXid
	}
	return l.ownXid
}

// Contact returns when the newest request that was answered in this session was sent, and the negotiated session
// timeout. Both are zero before the first handshake. The server cannot end the session before their sum.
func (l *Link) Contact() (sent time.Time, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.contact, l.timeout
}

// Close breaks the present connection and every later one, and waits for the goroutines of all of them.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	c := l.conn
	l.mu.Unlock()
	if c != nil {
		c.Close()
	}
	l.conns.Wait()
}
