package main

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
)

// stopping has the flags that say how a command is stopped.
type stopping struct {
	grace    *time.Duration
	onLost   lossAction
	onRevoke string // what happens when somebody asks for the lock

	timeout time.Duration // the session timeout that was asked for
	margin  float64       // the part of the timeout that is for stopping
}

func defineStopping(fs *flag.FlagSet) *stopping {
	s := &stopping{onLost: "term", onRevoke: "term"}
	s.grace = cli.Seconds(fs, "grace", -1, "`time` from TERM to KILL; a fifth of the session")
	fs.Var(&s.onLost, "on-lost", "the `action` at a loss: term, kill, or exec=CMD")
	cli.WordVar(fs, &s.onRevoke, "on-revoke", "action", "the `action` if it is revoked: term or ignore", "term", "ignore")
	return s
}

// spare is the part of the margin that is left for the kill itself.
func spare(timeout time.Duration) time.Duration { return max(timeout/40, 100*time.Millisecond) }

// The largest margins that a client may have.
const (
	maxMargin       = 0.5
	maxMarginStrict = 0.25
)

// plan computes the margin. A session is given up as much before its end as it
// takes to stop the command, so that nobody else can have the lock before that.
func (s *stopping) plan(set *settings) error {
	const defaultMargin, graceShare = 0.1, 5
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
	if _, isShell := s.onLost.shell(); isShell && *s.grace == 0 {
		return usagef("--on-lost %s needs a --grace above 0, which is the time that it has", s.onLost)
	}
	return nil
}

func (s *stopping) option() framework.Option { return framework.WithSafetyMargin(s.margin) }

// graceOf returns the grace in a session, which is shorter if the server has
// granted a shorter session timeout, and 0 if it is not known what was granted.
func (s *stopping) graceOf(granted time.Duration) time.Duration {
	room := time.Duration(s.margin*float64(granted)) - spare(granted)
	return max(0, min(*s.grace, room))
}

// lossAction is what happens to the command when the lock is lost.
type lossAction string

const execPrefix = "exec="

func (a *lossAction) String() string { return string(*a) }

func (a *lossAction) Set(s string) error {
	if s != "term" && s != "kill" && (!strings.HasPrefix(s, execPrefix) || s == execPrefix) {
		return fmt.Errorf("%q is no action: term, kill or exec=CMD", s)
	}
	*a = lossAction(s)
	return nil
}

// Choices implements cli.Chooser.
func (a *lossAction) Choices() []string { return []string{"term", "kill", execPrefix} }

// shell returns the command for a shell, if the action is one.
func (a lossAction) shell() (cmd string, ok bool) { return strings.CutPrefix(string(a), execPrefix) }
