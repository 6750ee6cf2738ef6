package zktest

import (
	"fmt"
	"sync"
	"time"
)

// cluster is what the members of an ensemble share. A standalone server has one
// for itself.
type cluster struct {
	refuser
	cfg   config
	alone *Server   // the standalone server, nil for an ensemble; constant
	ens   *Ensemble // nil for a standalone server; constant

	// The monitor guards the rest, everything in Server that is not said to be
	// constant, and the marked fields of conn, session and Member.
	monitor
	alarms
	sessionTable
	epoch      int64 // how many leaders there were; 0 for a standalone server
	accepted   int64 // connections so far
	handshakes int64 // connections that have made themselves known
	rules      rules
	sim        *simulation // nil without a ChaosPlan
}

func newCluster(cfg config) *cluster {
	return &cluster{cfg: cfg, sessionTable: newSessionTable(cfg)}
}

// stopClocksLocked keeps everything from happening by itself, for ever.
func (c *cluster) stopClocksLocked() {
	c.closing = true
	for _, sess := range c.sessions {
		sess.expiry.stop()
	}
	if c.sim != nil {
		c.sim.stopLocked()
	}
}

// monitor is a mutex, and tells waiting goroutines when something has changed. It
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

// alarms are all that may still go off by itself.
type alarms struct {
	timers  sync.WaitGroup
	closing bool // no alarm is set any more
}

// alarm is a timer whose function Close waits for.
type alarm struct {
	among  *alarms
	cancel func() bool
}

// afterLocked calls do, without the lock, when d has passed. It is nil, and
// does nothing, when the servers are being closed.
func (a *alarms) afterLocked(d time.Duration, do func()) *alarm {
	if a.closing {
		return nil
	}
	a.timers.Add(1)
	return &alarm{among: a, cancel: time.AfterFunc(d, func() {
		defer a.timers.Done()
		do()
	}).Stop}
}

// stop prevents the function from being called, unless that has begun already.
func (a *alarm) stop() {
	if a != nil && a.cancel() {
		a.among.timers.Done()
	}
}

// sleep waits for d unless done, which may be nil, is closed first.
func sleep(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}

// jitterSlot lengthens a wait so that it ends in a nanosecond that belongs to
// key: every client has its own in each microsecond.
func jitterSlot(wait time.Duration, key int64) time.Duration {
	now := time.Now()
	at := now.Add(max(wait, 0)).Truncate(time.Microsecond).Add(time.Duration(key % int64(time.Microsecond)))
	if !at.After(now) {
		at = at.Add(time.Microsecond)
	}
	return at.Sub(now)
}

// TB is the part of [testing.TB] that this package uses. It is an interface, so that
// a program that embeds a server does not link package testing.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// refuser refuses arguments that make no sense.
type refuser struct {
	tb TB // the test that the servers belong to, or nil
}

// invalidPath is misuse of a path. What cannot be the path of a node would look
// like a node that does not exist.
func (r refuser) invalidPath(path string) error {
	if r.tb != nil {
		r.tb.Helper()
	}
	return r.refuse(invalidPath(path))
}

func invalidPath(path string) error {
	return fmt.Errorf("zktest: invalid path %q, where a node's begins with a slash and does not end in one", path)
}

// misuse is what becomes of arguments that make no sense. It fails the test of
// the servers, if they have one, and returns the error.
func (r refuser) misuse(format string, args ...any) error {
	if r.tb != nil {
		r.tb.Helper()
	}
	return r.refuse(fmt.Errorf("zktest: "+format, args...))
}

func (r refuser) refuse(err error) error {
	if r.tb != nil {
		r.tb.Helper()
		r.tb.Fatalf("%v", err)
	}
	return err
}
