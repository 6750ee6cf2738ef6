package transport

import (
	"bytes"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Config is the owner's configuration of a Link. The functions are called on the
// connections' own goroutines, one at a time and without a lock held, unless their
// comments say otherwise. A nil function is not called.
type Config struct {
	// Clock returns the time for measuring contact, which includes suspensions of the
	// machine. Clock may be called with locks held, and must not block. Nil stands for
	// time.Now.
	Clock func() time.Time

	// LeaderConfirmed counts only contact that the ensemble's leader has
	// confirmed. See heartbeat.go.
	LeaderConfirmed bool

	// MinTimeout is the shortest session timeout that a server may grant. 0
	// means any.
	MinTimeout time.Duration

	// Seen is the newest transaction that the client has seen in earlier sessions.
	Seen int64

	// MaxRequest is the length of the longest request that SendAll accepts, in bytes. 0
	// means any length.
	MaxRequest int

	// Credentials returns the credentials to authenticate each new connection
	// with.
	Credentials func() []Credentials

	// Accepted is called when a server has accepted the session. The session
	// timeout may have changed then.
	Accepted func()

	// Watches passes the watches to set again on a new connection to its argument, and
	// returns when the argument has returned. Meanwhile no watch may be removed.
	Watches func(set func(standard []SetWatch, persistent []*PersistentWatch))

	// Fired is called for every watch event.
	Fired func(Event)

	// Failed is called with the reason why a connection ended before its
	// handshake was done.
	Failed func(error)

	// NotSet is called when the server has refused to set standard watches again, or
	// the connection has ended before the answer.
	NotSet func()
}

// Link is the state that the successive connections of one session share.
type Link struct {
	cfg        Config
	goroutines sync.WaitGroup // all connections' goroutines

	// mu protects the following fields, and the fields of every Conn whose
	// comments say so.
	mu       sync.Mutex
	conn     *Conn // the newest
	closed   bool
	retired  bool          // calls are no longer answered
	timeout  time.Duration // negotiated; 0 before the first handshake
	contact  time.Time     // when the newest answered request was sent
	ownXid   int32
	lastZxid int64 // the newest zxid in an answer to a Call
	answers  int   // the number of answers to Calls

	identity    Identity // the session's, once a server has accepted it
	established bool     // a handshake is done, and the library knows the session
	replaced    bool     // a server has granted another session in place of this one
	notServed   bool     // the last connection has ended for lack of authentication
}

// NewLink returns the link of a session that has not connected yet.
func NewLink(cfg Config) *Link {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Link{cfg: cfg, ownXid: firstOwnXid - 1}
}

// Wrap returns the connection to hand to the library in place of nc. The returned
// connection owns nc. If the handshake is not done by handshakeBy, reading fails.
// Unless s is nil, the handshake includes that SASL exchange. After Close, Wrap closes
// nc and returns a closed connection.
func (l *Link) Wrap(nc net.Conn, handshakeBy time.Time, s *SASL) net.Conn {
	c := newConn(l, nc)
	c.sasl = s
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
	if l.ownXid++; l.ownXid < firstOwnXid { // overflow
		l.ownXid = firstOwnXid
	}
	return l.ownXid
}

// LastContact returns when this session's newest answered request was sent, by
// Config.Clock, and the negotiated session timeout. The server cannot end the session
// before their sum. Both are zero before the first handshake.
func (l *Link) LastContact() (sent time.Time, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.contact, l.timeout
}

// LastZxid returns the newest zxid in an answer to a Call.
func (l *Link) LastZxid() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastZxid
}

// Held returns how long the present connection has been established, and false if there
// is none.
func (l *Link) Held() (d time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || !l.conn.established || l.conn.closed {
		return 0, false
	}
	return l.conn.heldLocked(), true
}

// Answers returns how many Calls were answered.
func (l *Link) Answers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers
}

// Retire stops the link from accepting requests and answers, and returns LastZxid,
// which no longer changes. An unanswered call fails with ErrLost when the link is
// closed.
func (l *Link) Retire() (lastZxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retired = true
	return l.lastZxid
}

func (l *Link) contactLocked(sent time.Time) {
	if sent.After(l.contact) {
		l.contact = sent
	}
}

// Close ends the present connection and every later one, and waits for the
// goroutines of all of them.
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

// CloseSession asks the server to end the session, whatever is under way, and returns
// the call, or nil if there is no connection.
func (l *Link) CloseSession() *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return nil
	}
	call, err := c.enqueueLocked(proto.OpCloseSession, noPayload, nil)
	if err != nil {
		return nil
	}
	c.signal()
	return call
}

// Identity identifies a session to servers.
type Identity struct {
	ID       int64
	Password []byte
	Timeout  time.Duration // the granted timeout
}

// recordIdentity keeps the identity of a session that the server has accepted.
func (l *Link) recordIdentity(r proto.ConnectResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity = Identity{ID: r.Session, Password: bytes.Clone(r.Password), Timeout: timeoutOf(r)}
}

// Identity returns the identity of the session. The ID is 0 if no server has accepted
// the session.
func (l *Link) Identity() Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

func (l *Link) noteReplaced() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced = true
}

// Replaced reports whether a server has granted another session in place of this one.
// The library then believes that the session has expired, but no server has said so:
// the session may live until its timeout.
func (l *Link) Replaced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced
}

// OrphanedSession returns the identity of a session that a server has granted but the
// library does not know, because the connection ended before the handshake was done.
// The library will not resume that session but ask for another.
func (l *Link) OrphanedSession() (id Identity, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity, l.identity.ID != 0 && !l.established
}

// ForgetSession resets the link to a session that has not connected yet.
func (l *Link) ForgetSession() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity, l.timeout, l.contact = Identity{}, 0, time.Time{}
}
