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
	over      bool // the grace has begun, and perhaps ended
	killing   bool // whatever a look finds is killed
	paused    bool // the family is stopped, and may not go on yet
	ended     bool // the command's end is known
	guardDied bool // the guard died before it reported the command's end
	status    int  // of the command, once it has ended
	alone     bool // nothing is left below the guard
	settled   bool // what the command has started last had the time to go its own way
	jobsEnded bool // the goroutine that follows stops has ended
	rousing   bool // the guard was roused once
	exited    bool // all who wait for the command's end know
}

// event is something that a course learns. N and ok depend on the kind.
type event struct {
	kind eventKind
	sig  syscall.Signal
	n    int
	ok   bool
	at   time.Time     // when it was learned
	took time.Duration // how long a look has taken
}

type eventKind int

const (
	askedToSignal      eventKind = iota // to send sig to the command's group
	askedToTerminate                    // to ask all of the family to end
	askedToKill                         // to kill all of it
	askedToBeginGrace                   // the grace begins by other means than SIGTERM
	askedToPause                        // to stop all of it
	askedToResume                       // to continue what a pause has stopped
	askedToStayStopped                  // what is paused may not go on
	familyPaused                        // ok says whether the whole family is stopped
	commandStopped                      // the guard tells: by sig
	sessionLeft                         // the guard tells: n is the session; see family
	commandEnded                        // the guard tells: n is the status, as shells have it
	guardAlone                          // the guard tells: nothing is left below it
	guardEnded                          // the guard has ended
	commandDead                         // the system tells of the command's end
	guardLate                           // the guard has not reported that end in time
	familySeen                          // a look: ok says whether it found nothing
	lookDue                             // it is time for a look
	settlingOver                        // see course.settled
	jobsOver                            // see course.jobsEnded
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
	terminateFamily                  // SIGTERM, and SIGCONT if ok
	look                             // kill what there is if ok, and look whether something is left
	lookLater                        // after wait
	pauseFamily                      // stop all; familyPaused follows
	resumeFamily                     // continue what was paused
	answer                           // tell the caller: ok
	tellStop                         // the command was stopped by sig
	noteLeft                         // n is a session that has left the family
	forgetGroup                      // the command's group is not signalled if it is empty
	endJobs                          // the goroutine that follows stops is to end
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
	if c.exited || !c.ended || !c.jobsEnded || !c.settled && c.empty.IsZero() {
		return steps
	}
	// No process is about to leave by setsid(2), and no goroutine takes the terminal.
	c.exited = true
	return append(steps, step{kind: tellExit})
}

func (c *course) follow(e event) []step {
	switch e.kind {
	case askedToSignal, askedToTerminate, askedToKill, askedToBeginGrace:
		return append(c.beforeSignal(e), c.signal(e)...)
	case askedToPause:
		if c.over || c.killing || c.ended { // the end of a grace must find this program awake
			return []step{{kind: answer}}
		}
		return []step{{kind: pauseFamily}}
	case familyPaused:
		c.paused = e.ok
		if !e.ok {
			return []step{{kind: resumeFamily}, {kind: answer}}
		}
		return []step{{kind: answer, ok: true}}
	case askedToResume:
		c.paused = false
		return []step{{kind: resumeFamily}}
	case askedToStayStopped:
		return c.stayStopped()
	case commandStopped:
		return []step{{kind: tellStop, sig: e.sig}}
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
	case jobsOver:
		c.jobsEnded = true
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
	c.over = c.over || hasGrace
	return steps
}

func (c *course) signal(e event) []step {
	switch e.kind {
	case askedToKill:
		c.killing = true
		return c.look()
	case askedToTerminate: // a paused command does not go on before zklock knows that the lock is held
		return []step{{kind: terminateFamily, ok: !c.paused}}
	case askedToBeginGrace:
		return []step{{kind: answer, ok: true}}
	}
	if e.sig == syscall.SIGTSTP && c.over {
		return nil
	}
	return []step{{kind: signalGroup, sig: e.sig}}
}

// stayStopped ends a pause whose family may not go on: it stays as it is, and is
// killed if it was told to end meanwhile.
func (c *course) stayStopped() []step {
	c.paused = false
	if !c.over {
		return nil
	}
	c.killing = true
	return c.look()
}

// end is called when the command has ended.
func (c *course) end(status int) []step {
	c.ended, c.status = true, status
	return []step{{kind: forgetGroup}, {kind: endJobs}, {kind: settle}, {kind: lookLater, wait: familyPoll}}
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
