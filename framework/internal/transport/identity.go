package transport

import (
	"bytes"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Identity is how a server identifies a session.
type Identity struct {
	ID       int64
	Password []byte
	Timeout  time.Duration // the granted one
}

// recordIdentity keeps the identity of a session that the server has accepted.
func (l *Link) recordIdentity(r proto.ConnectResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity = Identity{ID: r.Session, Password: bytes.Clone(r.Password), Timeout: timeoutOf(r)}
}

// Identity returns how servers identify the session. The ID is 0 if no server
// has accepted it.
func (l *Link) Identity() Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

// OrphanedSession returns the identity of a session that a server has granted,
// but that the library does not know of, because the connection ended before
// its handshake was done. The library will not resume that session, but ask for
// another.
func (l *Link) OrphanedSession() (id Identity, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity, l.identity.ID != 0 && !l.established
}

// ForgetSession makes the link one of a session that has not connected yet.
func (l *Link) ForgetSession() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity, l.timeout, l.contact = Identity{}, 0, time.Time{}
}
