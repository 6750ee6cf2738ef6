//go:build unix

package child

import (
	"slices"
	"syscall"
	"time"
)

// course tracks a command from its start until its last process has ended, and decides
// what follows from each event. It is a state machine without processes, channels and
// timers: the method on takes an event and returns the steps to take, in order. The
// owner takes the steps.
type course struct {
	pace pace
	// empty is the time of the first search that found no process of the family. It is
	// zero if the last search has found a process.
	empty time.Time

	ending    bool // the guard knows that the end of the family has begun
	termed    bool // the guard knows that the grace has begun
	killing   bool // a search kills every process that it finds
	ended     bool // the command's end is known
	guardDied bool // the guard died before it reported the command's end
	status    int  // the command's status, once it has ended
	alone     bool // the guard has no descendants left
	settled   bool // the last processes of the command had time to leave by setsid(2)
	rousing   bool // the guard was roused once
	exited    bool // the command's end was reported to all waiters
}

// event is something that a course learns. The comments of the kinds say what n and ok mean.
type event struct {
	kind eventKind
	sig  syscall.Signal
	n    int
	ok   bool
	tty  tty
	at   time.Time     // when the owner learned of the event
	took time.Duration // how long a search has taken
}

type eventKind int

const (
	askedToSignal    eventKind = iota // the caller wants sig to be sent to the command's group
	askedToTerminate                  // the caller wants TERM to be sent to the whole family
	askedToKill                       // the caller wants the whole family to be killed
	commandStopped                    // the guard reports: sig has stopped the command in the terminal state tty
	continueDue                       // it is time to continue a command that has stopped
	sessionLeft                       // the guard reports: n is the session; see family
	commandEnded                      // the guard reports: n is the status, in the form of shells
	guardAlone                        // the guard reports: it has no descendants left
	guardEnded                        // the guard has ended
	commandDead                       // the system reports the command's end
	guardLate                         // the guard has not reported the command's end in time
	familySeen                        // the result of a search: ok means that it found no process
	lookDue                           // it is time to search again
	settlingOver                      // see course.settled
)

// tty is this program's relation to the terminal when the command has stopped.
type tty int

const (
	noTerminal tty = iota // there is none, or the command must not use it
	background            // another process group is in the foreground
	foreground            // this program is in the foreground
)

// step is something that the owner must do. The comments of the kinds say what n, sig and ok
// mean.
type step struct {
	kind stepKind
	sig  syscall.Signal
	n    int
	ok   bool
	wait time.Duration
}

type stepKind int

const (
	beginEnd         stepKind = iota // from now on no process leaves the family, and the guard knows that
	tellTermed                       // tell the guard that the grace has begun
	signalGroup                      // send sig to the command's group
	terminateFamily                  // SIGTERM and SIGCONT
	look                             // if ok, kill all processes first; then search for processes that are left
	lookLater                        // after wait
	giveTerminal                     // put the command's group into the foreground
	continueLater                    // continueDue follows
	noteLeft                         // n is a session that has left the family
	forgetGroup                      // stop signalling the command's group if it is empty
	settle                           // settlingOver follows
	rouseGuard                       // SIGCONT to the guard; guardLate may follow
	killStoppedGuard                 // kill the guard if it is stopped
	takeOver                         // this program has adopted the guard's descendants
	tellExit                         // take the terminal back, and report the command's end
)

// stopSignals are the signals that ask a program to end.
var stopSignals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// isOver reports whether no process of the command is left, and all waiters know.
func (c *course) isOver() bool { return c.exited && !c.empty.IsZero() }

// on returns the steps that follow from an event.
func (c *course) on(e event) []step {
	steps := c.follow(e)
	if c.exited || !c.ended || !c.settled && c.empty.IsZero() {
		return steps
	}
	// No process is about to leave by setsid(2).
	c.exited = true
	return append(steps, step{kind: tellExit})
}

func (c *course) follow(e event) []step {
	switch e.kind {
	case askedToSignal, askedToTerminate, askedToKill:
		return append(c.beforeSignal(e), c.signal(e)...)
	case commandStopped:
		return c.stopped(e)
	case continueDue:
		return c.goOn()
	case sessionLeft:
		return []step{{kind: noteLeft, n: e.n}}
	case commandEnded:
		return c.end(e.n)
	case guardAlone:
		c.alone, c.empty = true, e.at
	case guardEnded:
		return c.loseGuard()
	case commandDead, guardLate:
		return c.rouse()
	case familySeen:
		return c.see(e)
	case lookDue:
		return c.look()
	case settlingOver:
		c.settled = true
	}
	return nil
}

// beforeSignal returns the steps before a signal. The guard learns of the end before
// the command does, so that it grants no second grace if this program dies, and lets no
// process leave from now on.
func (c *course) beforeSignal(e event) (steps []step) {
	hasGrace := e.kind != askedToSignal
	if (hasGrace || slices.Contains(stopSignals, e.sig)) && !c.ending {
		c.ending = true
		steps = append(steps, step{kind: beginEnd})
	}
	if (hasGrace || e.sig == syscall.SIGTERM) && !c.termed {
		c.termed = true
		steps = append(steps, step{kind: tellTermed})
	}
	return steps
}

func (c *course) signal(e event) []step {
	switch e.kind {
	case askedToKill:
		c.killing = true
		return c.look()
	case askedToTerminate:
		return []step{{kind: terminateFamily}}
	}
	return []step{{kind: signalGroup, sig: e.sig}}
}

// stopped is called when a signal has stopped the command. A command that wants to use
// the terminal gets it, or is continued later to try again. Ctrl-Z has no effect: a
// stopped command would keep the lock, and a shell that continues the command could not
// know whether the lock is still held. SIGSTOP is respected, because it was sent on
// purpose.
func (c *course) stopped(e event) []step {
	wants := e.sig == syscall.SIGTTIN || e.sig == syscall.SIGTTOU
	switch {
	case e.tty == noTerminal:
		return nil
	case e.sig == syscall.SIGTSTP:
		return c.goOn()
	case wants && e.tty == foreground:
		return append([]step{{kind: giveTerminal}}, c.goOn()...)
	case wants:
		return []step{{kind: continueLater}}
	}
	return nil
}

// goOn continues a command that has stopped.
func (c *course) goOn() []step {
	if c.ended {
		return nil
	}
	return []step{{kind: signalGroup, sig: syscall.SIGCONT}}
}

// end is called when the command has ended.
func (c *course) end(status int) []step {
	c.ended, c.status = true, status
	return []step{{kind: forgetGroup}, {kind: settle}, {kind: lookLater, wait: familyPoll}}
}

// loseGuard is called when the guard has ended. If the guard has ended too early, the
// system kills the command (on Linux), and this program kills the rest of the family.
func (c *course) loseGuard() (steps []step) {
	if !c.ended {
		c.guardDied = true
		steps = c.end(128 + int(syscall.SIGKILL))
	}
	c.ending, c.killing = true, true
	return append(append(steps, step{kind: takeOver}), c.look()...)
}

// rouse is called when the command has ended but the guard has not reported the end.
// Usually the guard is about to report. rouse continues a stopped guard; if the guard
// still does not report, it is killed.
func (c *course) rouse() (steps []step) {
	if c.ended {
		return nil
	}
	if c.rousing {
		steps = append(steps, step{kind: killStoppedGuard})
	}
	c.rousing = true
	return append(steps, step{kind: rouseGuard})
}

func (c *course) look() []step {
	if c.alone {
		return nil
	}
	return []step{{kind: look, ok: c.killing}}
}

// see is called with the result of a search.
func (c *course) see(e event) (steps []step) {
	switch {
	case !e.ok:
		c.empty = time.Time{}
	case c.empty.IsZero():
		c.empty = e.at
	case !c.ended && e.at.Sub(c.empty) > guardPatience:
		steps = append(steps, step{kind: killStoppedGuard}) // a stopped guard cannot report the end
	}
	return append(steps, step{kind: lookLater, wait: c.pace.after(e.at, e.took)})
}
