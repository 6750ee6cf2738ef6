package transport

import (
	"slices"
	"time"
)

// gap is a time for which this machine was suspended, and Go's clock stood still.
type gap struct {
	noticed time.Time
	length  time.Duration
}

// Suspended notes that the machine has been suspended, and that this is noticed
// only now. Every request that was sent before is older than its stamp says.
// That may be wrong for one that was sent since the machine woke up, which is on
// the safe side.
func (l *Link) Suspended(length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = slices.DeleteFunc(l.gaps, func(g gap) bool { return g.noticed.Before(l.contact) })
	l.gaps = append(l.gaps, gap{time.Now(), length})
}

// SinceLastContact returns how long ago the newest request that was answered in this
// session was sent, and the negotiated session timeout. The timeout is 0 before
// the first handshake. The server cannot end the session before the silence is
// as long as the timeout.
func (l *Link) SinceLastContact() (silence, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	silence = time.Since(l.contact)
	for _, g := range l.gaps {
		if !g.noticed.Before(l.contact) {
			silence += g.length
		}
	}
	return silence, l.timeout
}
