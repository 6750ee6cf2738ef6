package main

import (
	"fmt"
	"os"
	"time"
)

// custody decides what happens to a command under its lease: which signal it
// gets, and when it is killed. It is a state machine without clocks, processes
// and servers: on takes an event and returns the acts that follow, in their
// order. Acts that protect the lock come before acts that report.
type custody struct {
	path   string
	grace  time.Duration // from TERM to KILL
	onLost lossAction

	exited    bool
	graceSet  bool
	lost      bool
	stopAsked bool  // a signal has asked for the end
	cause     error // why the lock was lost, if the command still ran then
	unstopped int   // a process of the command that zklock may not signal, or 0
}

// event is something that happens to a command or to its lease.
type event struct {
	kind    eventKind
	sig     os.Signal // of sawSignal
	cause   error     // of sawLoss, and of sawHookEnd, where nil is a success
	stopped bool      // of sawLoss: the whole job was stopped
	started bool      // of sawHookEnd: the hook was started
	pid     int       // of sawRefusal
}

type eventKind int

const (
	sawSignal     eventKind = iota // zklock got a signal
	sawRevocation                  // another client asks for the lock
	sawLoss                        // the lock is lost
	sawExit                        // the command has ended, perhaps not all that it has started
	sawGraceEnd                    // the time of startGrace is over
	sawHookEnd                     // the command of --on-lost has ended, or was not started
	sawRefusal                     // the system refuses to signal a process of the command
)

// act is something that is to be done.
type act struct {
	kind  actKind
	sig   os.Signal     // of doForward
	wait  time.Duration // of doStartGrace
	shell string        // of doRunHook
	text  string        // of doSay and doNote
}

type actKind int

const (
	doForward    actKind = iota // pass a signal on
	doTerminate                 // TERM to all that descends from the command
	doKill                      // KILL to all of it
	doStartGrace                // sawGraceEnd follows
	doRunHook                   // run the command of --on-lost; sawHookEnd follows
	doSay                       // write a line
	doNote                      // write a line with -v
)

// on returns what follows from an event.
func (c *custody) on(e event) []act {
	switch e.kind {
	case sawSignal:
		c.stopAsked = c.stopAsked || asksToStop(e.sig)
		return []act{{kind: doForward, sig: e.sig}, {kind: doNote, text: fmt.Sprintf("forwarding %v", e.sig)}}
	case sawRevocation:
		return []act{{kind: doTerminate}, {kind: doNote, text: fmt.Sprintf("somebody asks for %s: sending TERM", c.path)}}
	case sawExit:
		return c.exit()
	case sawLoss:
		return c.lose(e)
	case sawGraceEnd:
		return []act{{kind: doKill}, {kind: doNote, text: "sending KILL"}}
	case sawHookEnd:
		return c.endHook(e)
	case sawRefusal:
		if c.unstopped == 0 {
			c.unstopped = e.pid
			return c.tellUnstopped()
		}
	}
	return nil
}

// exit ends what the command has left behind: nothing of it may outlive the
// lock. As a rule there is nothing.
func (c *custody) exit() (acts []act) {
	c.exited = true
	if !c.graceSet {
		acts = append(acts, act{kind: doTerminate})
	}
	return append(acts, c.beginGrace()...)
}

// beginGrace begins the grace. A grace that has begun is not made longer: the
// margin of a loss holds one.
func (c *custody) beginGrace() []act {
	if c.graceSet {
		return nil
	}
	c.graceSet = true
	return []act{{kind: doStartGrace, wait: c.grace}}
}

// lose stops the command. The lease has ended early enough for the grace, but not
// if the whole job was stopped: then another client may hold the lock.
func (c *custody) lose(e event) []act {
	c.lost = true
	if !c.exited {
		c.cause = e.cause
	}
	acts := c.beginGrace()
	shell, isShell := c.onLost.shell()
	switch {
	case isShell && c.grace > 0:
		acts = append(acts, act{kind: doRunHook, shell: shell})
	case isShell:
		acts = append(acts, act{kind: doKill}, act{kind: doSay, text: "--on-lost: there is no time for it: sending KILL"})
	case c.onLost == "kill", e.stopped:
		acts = append(acts, act{kind: doKill})
	default:
		acts = append(acts, act{kind: doTerminate})
	}
	if c.unstopped != 0 {
		acts = append(acts, c.tellUnstopped()...)
	}
	return acts
}

// endHook has TERM come in the place of a hook that could not be started.
func (c *custody) endHook(e event) (acts []act) {
	if e.cause == nil {
		return nil
	}
	if !e.started {
		acts = append(acts, act{kind: doTerminate})
	}
	return append(acts, act{kind: doSay, text: fmt.Sprint("--on-lost: ", e.cause)})
}

// tellUnstopped says what follows from a process that cannot be stopped.
func (c *custody) tellUnstopped() []act {
	consequence := "the lock is held until it ends"
	if c.lost {
		consequence = "it goes on beside the next holder"
	}
	return []act{{kind: doSay, text: fmt.Sprintf("%s: cannot stop PID %d: %s", c.path, c.unstopped, consequence)}}
}

// lossOf returns the error of a loss: what was done about the command, or that it
// could not be stopped.
func (c *custody) lossOf(cause error, consequence string) error {
	if c.unstopped == 0 {
		return lostError(c.path, cause, consequence)
	}
	return statusError{notStopped, fmt.Errorf("lost %s: %w; PID %d could not be stopped", c.path, cause, c.unstopped)}
}
