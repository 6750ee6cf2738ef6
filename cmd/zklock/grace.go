package main

import (
	"context"
	"flag"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
)

// stopping has the flag --grace and the values computed from it.
type stopping struct {
	grace   *time.Duration
	timeout time.Duration // the requested session timeout
	margin  float64       // the part of the timeout that is reserved for stopping
}

func defineStopping(fs *flag.FlagSet) *stopping {
	return &stopping{grace: cli.Seconds(fs, "grace", -1,
		"`time` from TERM to KILL, 0 for no time; a fifth of the session")}
}

// spare is the part of the margin that is left for the kill itself.
func spare(timeout time.Duration) time.Duration { return max(timeout/40, 100*time.Millisecond) }

// The largest margins that a client may have.
const (
	maxMargin       = 0.5
	maxMarginStrict = 0.25
)

// plan computes the margin. The client gives a session up early enough to stop the
// command before another process can get the lock.
func (s *stopping) plan(set *settings) error {
	const defaultMargin, graceShare = 0.1, 5
	if !child.Supported {
		return usagef("commands run on Unix only")
	}
	if s.timeout = set.sessionTimeout; s.timeout <= 0 {
		return usagef("--session-timeout must be positive")
	}
	if *s.grace < 0 {
		*s.grace = s.timeout / graceShare
	}
	s.margin = max(defaultMargin, float64(*s.grace+spare(s.timeout))/float64(s.timeout))
	limit := maxMargin
	if set.strict {
		limit = maxMarginStrict
	}
	if s.margin > limit {
		return usagef("--grace %v is too long for a session timeout of %v; the part of it that is for stopping"+
			" can be %v%% at most", *s.grace, s.timeout, limit*100)
	}
	return nil
}

func (s *stopping) option() framework.Option { return framework.WithSafetyMargin(s.margin) }

// graceOf returns the grace in a session, which is shorter if the server has granted a
// shorter session timeout, and 0 if the granted timeout is not known.
func (s *stopping) graceOf(granted time.Duration) time.Duration {
	room := time.Duration(s.margin*float64(granted)) - spare(granted)
	return max(0, min(*s.grace, room))
}

// lossGrace is the grace that begins with the loss of a lock, even while the command is
// being started. The command may begin before zklock learns of the start: then it gets
// TERM and the rest of the grace. If the command has not begun by the end of the grace,
// its start is canceled.
type lossGrace struct {
	whole time.Duration
	begin atomic.Pointer[time.Time]
	over  chan struct{} // closed at the end of the grace
}

// graceAfter returns the grace after the end of a lease.
func graceAfter(lease context.Context, whole time.Duration) *lossGrace {
	g := &lossGrace{whole: whole, over: make(chan struct{})}
	context.AfterFunc(lease, func() {
		now := time.Now()
		g.begin.Store(&now)
		time.AfterFunc(whole, func() { close(g.over) })
	})
	return g
}

// left returns how long the command still has if the lock is lost.
func (g *lossGrace) left() time.Duration {
	begin := g.begin.Load()
	if begin == nil {
		return g.whole
	}
	return max(0, g.whole-time.Since(*begin))
}
