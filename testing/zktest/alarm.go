package zktest

import (
	"time"
)

// alarm is a timer whose function Close waits for.
type alarm struct {
	cluster *cluster
	cancel  func() bool
}

// afterLocked calls do, without the lock, when d has passed. It is nil, and
// does nothing, when the cluster is being closed.
func (c *cluster) afterLocked(d time.Duration, do func()) *alarm {
	if c.closing {
		return nil
	}
	c.timers.Add(1)
	return &alarm{cluster: c, cancel: time.AfterFunc(d, func() {
		defer c.timers.Done()
		do()
	}).Stop}
}

// stop prevents the function from being called, unless that has begun already.
func (a *alarm) stop() {
	if a != nil && a.cancel() {
		a.cluster.timers.Done()
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
