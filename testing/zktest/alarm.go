package zktest

import (
	"sync"
	"time"
)

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
