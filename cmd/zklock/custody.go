package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// custody decides what happens to a command under its lease: which signals the command
// gets, and when it is killed. custody is a state machine without clocks, processes and
// servers: the method on takes an event and returns the acts to carry out, in order.
// Acts that protect the lock come before acts that report.
type custody struct {
	path  string
	grace time.Duration // from TERM to KILL

	exited    bool
	graceSet  bool
	lost      bool
	stopAsked bool  // a signal has asked for the end
	cause     error // why the lock was lost, if the command was still running
	unstopped int   // a process of the command that zklock may not signal, or 0
}

// event is something that happens to a command or to its lease.
type event struct {
	kind  eventKind
	sig   os.Signal // of sawSignal
	cause error     // of sawLoss
	pid   int       // of sawRefusal
}

type eventKind int

const (
	sawSignal     eventKind = iota // zklock received a signal
	sawRevocation                  // another client asks for the lock
	sawLoss                        // the lock is lost
	sawExit                        // the command, but perhaps not its children, has ended
	sawGraceEnd                    // the time of startGrace is over
	sawRefusal                     // the system refuses to signal a process of the command
)

// act is something to do.
type act struct {
	kind actKind
	sig  os.Signal     // of doForward
	wait time.Duration // of doStartGrace
	text string        // of doSay and doNote
}

type actKind int

const (
	doForward    actKind = iota // pass a signal on
	doTerminate                 // TERM to the command and all its descendants
	doKill                      // KILL to the command and all its descendants
	doStartGrace                // start the timer that ends with sawGraceEnd
	doSay                       // write a line
	doNote                      // write a line with -v
)

// on returns the acts that follow from an event.
func (c *custody) on(e event) []act {
	switch e.kind {
	case sawSignal:
		c.stopAsked = c.stopAsked || asksToStop(e.sig)
		return []act{{kind: doForward, sig: e.sig}, {kind: doNote, text: fmt.Sprintf("forwarding %v", e.sig)}}
	case sawRevocation:
		return []act{{kind: doTerminate}, {kind: doNote, text: fmt.Sprintf("a client asks for %s: sending TERM", c.path)}}
	case sawExit:
		return c.exit()
	case sawLoss:
		return c.lose(e.cause)
	case sawGraceEnd:
		return []act{{kind: doKill}, {kind: doNote, text: "sending KILL"}}
	case sawRefusal:
		return c.refuse(e.pid)
	}
	return nil
}

// exit stops the descendants that the command has left behind: none may run without the
// lock. Usually there are none.
func (c *custody) exit() (acts []act) {
	c.exited = true
	if !c.graceSet {
		acts = append(acts, act{kind: doTerminate})
	}
	return append(acts, c.beginGrace()...)
}

// beginGrace begins the grace. A running grace is not extended, because the safety
// margin of a lost session has room for one grace only.
func (c *custody) beginGrace() []act {
	if c.graceSet {
		return nil
	}
	c.graceSet = true
	return []act{{kind: doStartGrace, wait: c.grace}}
}

// lose stops the command. The lease has ended early enough for the grace. A process
// that refused an earlier signal may have ended since, so only the next refusal counts.
func (c *custody) lose(cause error) []act {
	c.lost, c.unstopped = true, 0
	if !c.exited {
		c.cause = cause
	}
	return append(c.beginGrace(), act{kind: doTerminate})
}

// refuse returns the acts that follow if a process cannot be stopped.
func (c *custody) refuse(pid int) []act {
	if c.unstopped != 0 {
		return nil
	}
	c.unstopped = pid
	consequence := "the lock is held until it ends"
	if c.lost {
		consequence = "it goes on beside the next holder"
	}
	return []act{{kind: doSay, text: fmt.Sprintf("%s: cannot stop PID %d: %s", c.path, pid, consequence)}}
}

// lossOf returns the error of a loss. The error says what was done to the command, or
// that a process could not be stopped.
func (c *custody) lossOf(cause error, consequence string) error {
	if c.unstopped == 0 {
		return lostError(c.path, cause, consequence)
	}
	return statusError{notStopped, fmt.Errorf("lost %s: %w; PID %d could not be stopped", c.path, cause, c.unstopped)}
}

// watch is the life of a command under its lease. Its loop passes events to a custody
// and carries out the acts.
type watch struct {
	*guarded
	custody
	p     process
	lease *locks.Lease
	kill  <-chan time.Time // the end of the grace; nil before the grace
}

func newWatch(g *guarded, p process, lease *locks.Lease, grace time.Duration) *watch {
	c := custody{path: g.path, grace: grace, stopAsked: g.stopAsked}
	return &watch{guarded: g, custody: c, p: p, lease: lease}
}

// untilGone returns when the command and all its descendants have ended.
func (w *watch) untilGone() error {
	exited, lost, asked := w.p.Exited(), w.lease.Context().Done(), w.lease.Revoked()
	for {
		var e event
		select {
		case <-w.p.Gone():
			return w.outcome()
		case <-exited:
			exited, asked = nil, nil
			e = event{kind: sawExit}
		case <-lost:
			lost, asked = nil, nil
			e = event{kind: sawLoss, cause: lostCause(w.lease)}
		case <-asked:
			asked = nil
			e = event{kind: sawRevocation}
		case sig := <-w.signals:
			e = event{kind: sawSignal, sig: sig}
		case <-w.kill:
			e = event{kind: sawGraceEnd}
		case pid := <-w.p.Refused():
			e = event{kind: sawRefusal, pid: pid}
		}
		w.follow(e)
	}
}

// follow carries out the acts that follow from an event.
func (w *watch) follow(e event) {
	for _, a := range w.on(e) {
		switch a.kind {
		case doForward:
			w.p.Signal(a.sig)
		case doTerminate:
			w.p.Terminate()
		case doKill:
			w.p.Kill()
		case doStartGrace:
			w.kill = time.After(a.wait)
		case doSay:
			fmt.Fprintln(w.err, "zklock:", a.text)
		case doNote:
			w.note("%s", a.text)
		}
	}
	w.guarded.stopAsked = w.custody.stopAsked
}

// outcome returns the status of the command, or the loss. The status counts only if the
// lock was held until the last descendant had ended.
func (w *watch) outcome() error {
	if w.cause != nil {
		return w.lossOf(w.cause, "; the command was stopped")
	}
	if w.p.GuardDied() {
		err := fmt.Errorf("%s: the guard was killed, and the command with it", w.guarded.path)
		return statusError{ownFailure, err}
	}
	status := w.p.Status()
	if cause := w.lossAtTheEnd(w.lease); cause != nil {
		return w.lossOf(cause, fmt.Sprintf("; the command had ended with status %d, perhaps after the loss", status))
	}
	if status != 0 {
		return statusError{status: status}
	}
	return nil
}
