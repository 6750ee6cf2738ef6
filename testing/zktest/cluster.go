package zktest

import (
	"fmt"
	"sync"
	"time"
)

// cluster has the state that the members of an ensemble share. A standalone server has its
// own cluster.
type cluster struct {
	refuser
	cfg   config
	alone *Server   // the standalone server, nil for an ensemble; constant
	ens   *Ensemble // nil for a standalone server; constant

	// The monitor guards the following fields, all fields of Server that are not marked
	// as constant, and the marked fields of conn, session and Member.
	monitor
	alarms
	sessionTable
	epoch      int64 // the number of leaders so far; 0 for a standalone server
	accepted   int64 // the number of connections so far
	handshakes int64 // the number of connections that have sent a request
	rules      rules
	sim        *simulation // nil without a ChaosPlan
}

func newCluster(cfg config) *cluster {
	return &cluster{cfg: cfg, sessionTable: newSessionTable(cfg)}
}

// stopClocksLocked stops all alarms for good.
func (c *cluster) stopClocksLocked() {
	c.closing = true
	for _, sess := range c.sessions {
		sess.expiry.stop()
	}
	if c.sim != nil {
		c.sim.stopLocked()
	}
}

// monitor is a mutex that also wakes goroutines which wait for a change. It is held only for
// work in memory, and never during a wait or a call of a test's function.
type monitor struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil if no goroutine waits
}

// unlock ends a critical section that may have changed something, and wakes the waiting
// functions.
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

// alarms has all timers that may still fire.
type alarms struct {
	timers  sync.WaitGroup
	closing bool // no more alarms are set
}

// alarm is a timer whose function Close waits for.
type alarm struct {
	among  *alarms
	cancel func() bool
}

// afterLocked calls the function do after the duration d, without the lock. While the
// servers are being closed, afterLocked does nothing and returns nil.
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

// stop prevents the call of the function, unless the call has begun.
func (a *alarm) stop() {
	if a != nil && a.cancel() {
		a.among.timers.Done()
	}
}

// sleep waits for the duration d, or until done is closed. The channel done may be nil.
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

// jitterSlot lengthens a wait so that it ends in the key's own nanosecond of a microsecond.
// Every client has its own key.
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

// refuser refuses invalid arguments.
type refuser struct {
	tb TB // the test that the servers belong to, or nil
}

// invalidPath is misuse for an invalid path. Without it, an invalid path would look like a
// missing node.
func (r refuser) invalidPath(path string) error {
	if r.tb != nil {
		r.tb.Helper()
	}
	return r.refuse(invalidPath(path))
}

func invalidPath(path string) error {
	return fmt.Errorf("zktest: invalid path %q, where a node's begins with a slash and does not end in one", path)
}

// misuse handles an invalid argument: it fails the test of the servers, if there is one,
// and returns the error.
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
