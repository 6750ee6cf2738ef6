//go:build unix

package child

import (
	"slices"
	"syscall"
	"time"
)

// course is what is known of a command from its start until nothing of it is
// left, and decides what follows from each event. It is a state machine without
// processes, channels and timers: on takes an event and returns the steps to
// take, in their order. The owner takes them.
type course struct {
	pace pace
	// empty is the time of the first look that found nothing of the family. It
	// is zero if the last look has found something.
	empty time.Time

	ending    bool // the guard knows that the end of the family has begun
	termed    bool // the guard knows that the grace has begun
	killing   bool // whatever a look finds is killed
	ended     bool // the command's end is known
	guardDied bool // the guard died before it reported the command's end
	status    int  // of the command, once it has ended
	alone     bool // nothing is left below the guard
	settled   bool // what the command has started last had the time to go its own way
	rousing   bool // the guard was roused once
	exited    bool // all who wait for the command's end know
}

// event is something that a course learns. N and ok depend on the kind.
type event struct {
	kind eventKind
	sig  syscall.Signal
	n    int
	ok   bool
	tty  tty
	at   time.Time     // when it was learned
	took time.Duration // how long a look has taken
}

type eventKind int

const (
	askedToSignal    eventKind = iota // to send sig to the command's group
	askedToTerminate                  // to ask all of the family to end
	askedToKill                       // to kill all of it
	commandStopped                    // the guard reports: by sig, while the terminal was as tty says
	continueDue                       // it is time to continue a command that has stopped
	sessionLeft                       // the guard reports: n is the session; see family
	commandEnded                      // the guard reports: n is the status, as shells have it
	guardAlone                        // the guard reports: nothing is left below it
	guardEnded                        // the guard has ended
	commandDead                       // the system reports the command's end
	guardLate                         // the guard has not reported that end in time
	familySeen                        // a look: ok says whether it found nothing
	lookDue                           // it is time for a look
	settlingOver                      // see course.settled
)

// tty is how the terminal stands to this program when the command has stopped.
type tty int

const (
	noTerminal tty = iota // there is none, or the command must not use it
	background            // another process group is in the foreground
	foreground            // this program is in the foreground
)

// step is something that the owner does. N, sig and ok depend on the kind.
type step struct {
	kind stepKind
	sig  syscall.Signal
	n    int
	ok   bool
	wait time.Duration
}

type stepKind int

const (
	beginEnd         stepKind = iota // no process leaves the family any more, and the guard knows it
	tellTermed                       // tell the guard that the grace has begun
	signalGroup                      // send sig to the command's group
	terminateFamily                  // SIGTERM and SIGCONT
	look                             // kill what there is if ok, and look whether something is left
	lookLater                        // after wait
	giveTerminal                     // put the command's group into the foreground
	continueLater                    // continueDue follows
	noteLeft                         // n is a session that has left the family
	forgetGroup                      // the command's group is not signalled if it is empty
	settle                           // settlingOver follows
	rouseGuard                       // SIGCONT to it; guardLate may follow
	killStoppedGuard                 // if it is stopped
	takeOver                         // this program has adopted what was below the guard
	tellExit                         // take the terminal back, and tell of the command's end
)

// stopSignals are those that ask a program to end.
var stopSignals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// isOver reports whether nothing of the command is left, and all know it.
func (c *course) isOver() bool { return c.exited && !c.empty.IsZero() }

// on returns what follows from an event.
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

// beforeSignal returns what comes before a signal. The guard knows of the end
// before the command does, so that it leaves no second grace if this program
// dies, and lets no process leave from now on.
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

// stopped is called when a signal has stopped the command. A command that wants to
// use the terminal gets it, or is continued later to try again. Ctrl-Z has no
// effect: a command that is stopped with a lock keeps others waiting, and a shell
// that continues it does not know whether the lock is still held. SIGSTOP was sent
// to the command on purpose.
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

// loseGuard is called when the guard has ended. If that was too early, the system
// kills the command (on Linux), and this program the rest of the family.
func (c *course) loseGuard() (steps []step) {
	if !c.ended {
		c.guardDied = true
		steps = c.end(128 + int(syscall.SIGKILL))
	}
	c.ending, c.killing = true, true
	return append(append(steps, step{kind: takeOver}), c.look()...)
}

// rouse is called when the command has ended, and the guard has not reported that.
// As a rule the guard is about to. A guard that was stopped is continued; if it
// does not report then, it is killed.
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

// see is called with what a look has found.
func (c *course) see(e event) (steps []step) {
	switch {
	case !e.ok:
		c.empty = time.Time{}
	case c.empty.IsZero():
		c.empty = e.at
	case !c.ended && e.at.Sub(c.empty) > guardPatience:
		steps = append(steps, step{kind: killStoppedGuard}) // it has to tell of the end
	}
	return append(steps, step{kind: lookLater, wait: c.pace.after(e.at, e.took)})
}
