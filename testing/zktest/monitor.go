package zktest

import "sync"

// monitor is a mutex, and tells those who wait when something has changed. It
// is held for work in memory only, never while waiting or calling a test's
// function.
type monitor struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil if nobody waits
}

// unlock ends a critical section that may have changed something, and lets the
// waiting functions look again.
func (m *monitor) unlock() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
	m.mu.Unlock()
}

// nextChangeLocked returns a channel that is closed at the next change.
func (m *monitor) nextChangeLocked() <-chan struct{} {
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return m.changed
}
