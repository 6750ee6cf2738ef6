package transport

import (
	"net"
	"sync"
	"time"
)

// Config is what a Link needs to know of its owner. The functions are called on the connections' own goroutines, one at
// a time, with no lock held. Those that are nil are left out.
type Config struct {
	// LeaderConfirmed counts only contact that the ensemble's leader has confirmed; see heartbeat.go.
	LeaderConfirmed bool

	// MinTimeout is the shortest session timeout that a server may grant. 0 means any.
	MinTimeout time.Duration

	// MaxRequest is the length of the longest request that Send takes, in bytes.
	MaxRequest int

	// Credentials returns what to authenticate each new connection with.
	Credentials func() []Credentials

	// Accepted is told when a server has accepted the session. The timeout may be another one from then on.
	Accepted func()

	// Watches passes the watches that are to be set again on a new connection to its argument, and returns when that has
	// returned. Meanwhile none of them may be withdrawn.
	Watches func(set func([]SetWatch))

	// Fired is told of every watch event.
	Fired func(Event)

	// Failed is told why a connection ended before its handshake was over.
	Failed func(error)
}

// Link is what the connections of one session share: the library makes one connection after the other for it.
type Link struct {
	cfg        Config
	goroutines sync.WaitGroup // one for each goroutine of a connection

	mu       sync.Mutex // protects the following fields and those of every Conn that say so
	conn     *Conn      // the newest
	closed   bool
	timeout  time.Duration // negotiated; 0 before the first handshake
	contact  time.Time     // when the newest answered request was sent
	gaps     []gap         // oldest first
	ownXid   int32
	lastZxid int64 // the newest in an answer to a call

	identity    Identity // of the session, once a server has accepted it
	established bool     // some connection's handshake is over: the library knows of the session
}

// NewLink returns the link of a session that has not connected yet.
func NewLink(cfg Config) *Link {
	return &Link{cfg: cfg, ownXid: firstOwnXid - 1}
}

// Wrap returns the connection to hand to the library in place of nc, which it owns from now on. The handshake must be
// over at the given time, else reading fails.
func (l *Link) Wrap(nc net.Conn, handshakeBy time.Time) net.Conn {
	c := newConn(l, nc)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		nc.Close()
		c.closed = true
		return c
	}
	l.conn = c
	nc.SetReadDeadline(handshakeBy)
	l.goroutines.Go(c.flush)
	return c
}

func (l *Link) nextOwnXid() int32 {
	if l.ownXid++; l.ownXid < firstOwnXid { // beyond the largest
		l.ownXid = firstOwnXid
	}
	return l.ownXid
}

// LastContact returns when the newest request that was answered in this session was sent, and the negotiated session
// timeout. Both are zero before the first handshake. The server cannot end the session before their sum.
func (l *Link) LastContact() (sent time.Time, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.contact, l.timeout
}

func (l *Link) contactLocked(sent time.Time) {
	if sent.After(l.contact) {
		l.contact = sent
	}
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
	l.goroutines.Wait()
}
