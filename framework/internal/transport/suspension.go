package transport

import (
	"slices"
	"time"
)

// gap is a time for which this machine was suspended, while Go's clock stood
// still.
type gap struct {
	noticed time.Time
	length  time.Duration
}

// Suspended records that the machine has been suspended for the given length,
// and that this is noticed only now. Every request that was sent before now is
// older than its timestamp says. For a request that was sent after the machine
// woke up this is wrong, but errs on the safe side.
func (l *Link) Suspended(length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = slices.DeleteFunc(l.gaps, func(g gap) bool { return g.noticed.Before(l.contact) })
	l.gaps = append(l.gaps, gap{time.Now(), length})
}

// SinceLastContact returns how long ago the newest request that was answered in
// this session was sent, and the negotiated session timeout. The server cannot
// end the session before the first is as long as the second. Unlike
// LastContact, it includes the time for which the machine was suspended. The
// timeout is 0 before the first handshake.
func (l *Link) SinceLastContact() (since, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since = time.Since(l.contact)
	for _, g := range l.gaps {
		if !g.noticed.Before(l.contact) {
			since += g.length
		}
	}
	return since, l.timeout
}
