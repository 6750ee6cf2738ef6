//go:build unix

package child

import (
	"slices"
	"syscall"
	"time"
)

// owner owns a command from its start until nothing of it is left.
type owner struct {
	p      *Process
	guards *guards
	family *family
	jobs   *jobs

	events  <-chan event    // nil when the inner guard has ended
	outer   <-chan struct{} // the end of the outer guard; nil when that has ended
	settled <-chan time.Time
	looks   *time.Timer
	pace    pace
	// empty is the time of the first look that found nobody of the family. It
	// is zero if the last look has found somebody.
	empty time.Time

	dead    <-chan struct{}  // the command has ended; nobody may have waited for it
	overdue <-chan time.Time // the inner guard should have told of that by then

	ended   bool // the command's end is known
	alone   bool // nothing is left below the inner guard
	paused  bool // the family is stopped, and may not go on yet
	over    bool // the grace has begun, and perhaps ended
	killing bool
	exited  bool // all who wait for the command's end know
}

// settling is how long what the command has started last has to go its own way,
// by setsid(2), after the command's end.
const settling = 50 * time.Millisecond

func newOwner(p *Process, g *guards) *owner {
	o := &owner{p: p, guards: g, events: g.events, outer: g.proc.ended}
	o.family = newFamily(p.command, g.proc.pid, g.inner)
	o.jobs = p.controlJobs()
	o.dead = whenDead(p.command)
	o.looks = time.NewTimer(0)
	<-o.looks.C
	return o
}

// run is the life of the owner.
func (o *owner) run() {
	defer close(o.p.gone)
	defer o.p.tty.close()
	defer o.guards.dismiss()
	o.untilGone()
}

// untilGone returns when nothing of the command is left.
func (o *owner) untilGone() {
	defer o.looks.Stop()
	for !o.exited || o.empty.IsZero() {
		select {
		case r := <-o.p.asked:
			o.carryOut(r)
		case e, ok := <-o.events:
			o.hear(e, ok)
		case <-o.outer:
			o.outer = nil
			o.takeOver()
		case <-o.looks.C:
			o.look()
		case <-o.dead:
			o.dead = nil
			o.rouse()
		case <-o.overdue:
			o.rouse()
		case <-o.settled:
			o.settled = nil
		case <-o.jobs.ended:
			o.jobs.ended = nil
		}
		o.exit()
	}
}

// carryOut does what is asked for. Guards know of the end before the command
// does, so that they leave no second grace if this program dies, and let nobody
// go who has not left by now.
func (o *owner) carryOut(r request) {
	hasGrace := r.do == toKill || r.do == toTerminate || r.do == toBeginGrace
	if hasGrace || slices.Contains(stopSignals, r.sig) {
		o.family.begin() // what the command is the parent of does not leave by its end
		o.guards.ending(o.family)
	}
	if hasGrace || r.sig == syscall.SIGTERM {
		o.guards.termed()
	}
	o.over = o.over || hasGrace
	switch r.do {
	case toKill:
		o.killing = true
		o.look()
	case toTerminate:
		o.terminate()
	case toBeginGrace:
		r.done <- true
	case toPause:
		r.done <- o.pause()
	case toResume:
		o.resume(true)
	case toStayStopped:
		o.resume(false)
	case toSignal:
		if r.sig != syscall.SIGTSTP || !o.over {
			o.family.group.signal(r.sig)
		}
	}
}

// terminate asks the family to end. One that is paused does not go on before it
// is known that the lock is held.
func (o *owner) terminate() {
	if o.paused {
		o.family.signal(syscall.SIGTERM)
		return
	}
	o.family.signal(syscall.SIGTERM, syscall.SIGCONT)
}

// pause stops the family, and reports whether this program may stop, too: the
// end of a grace must find it awake.
func (o *owner) pause() bool {
	if o.over || o.killing || o.ended {
		return false
	}
	if !o.family.pause() {
		o.family.resume()
		return false
	}
	o.paused = true
	return true
}

// resume ends a pause. A family that may not go on stays as it is, and is killed
// if it was told to end meanwhile.
func (o *owner) resume(mayGoOn bool) {
	o.paused = false
	switch {
	case mayGoOn:
		o.family.resume()
	case o.over:
		o.killing = true
		o.look()
	}
}

// rouse is called when the command has ended, and the inner guard has not told
// of that. As a rule it is about to. If somebody has stopped it, it goes on; if
// it cannot, it is killed.
func (o *owner) rouse() {
	if o.ended {
		o.overdue = nil
		return
	}
	if o.overdue != nil {
		o.endStopped()
	}
	o.guards.signalInner(syscall.SIGCONT)
	o.overdue = time.After(guardPatience)
}

// endStopped kills the inner guard if somebody has stopped it.
func (o *owner) endStopped() {
	if isStopped(o.guards.inner) {
		o.guards.killInner()
	}
}

// stopSignals are those that ask a program to end.
var stopSignals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// hear is called with what the inner guard tells, and at its end.
func (o *owner) hear(e event, ok bool) {
	switch {
	case !ok:
		o.events = nil
		o.lose()
	case e.Kind == commandStopped:
		o.jobs.tell(syscall.Signal(e.N))
	case e.Kind == sessionLeft:
		o.family.leftIn(e.N)
	case e.Kind == commandEnded:
		o.end(e.N)
	case e.Kind == guardAlone && adopts:
		o.alone, o.empty = true, time.Now()
	}
}

// end is called when the command has ended.
func (o *owner) end(status int) {
	o.ended = true
	o.p.status = status
	o.family.forgetGroup()
	tell(o.guards.toOuter, order{Ended: true})
	o.jobs.end()
	o.settled = time.After(settling)
	o.looks.Reset(familyPoll)
}

// lose is called when the inner guard has died. The system kills the command
// then, and this program the rest of it.
func (o *owner) lose() {
	if !o.ended {
		o.p.guardDied = true
		o.end(128 + int(syscall.SIGKILL))
	}
	o.family.gather()
	o.takeOver()
	o.killing = true
	o.look()
}

// takeOver is called when a guard has died. What was below both guards was
// adopted by this program.
func (o *owner) takeOver() {
	if o.outer == nil && o.events == nil {
		o.family.takeOver()
	}
}

// look looks whether somebody of the family is left, and kills if it is time.
func (o *owner) look() {
	if o.alone {
		return
	}
	begin := time.Now()
	if o.killing {
		o.family.kill()
	}
	switch {
	case !o.family.isEmpty():
		o.empty = time.Time{}
	case o.empty.IsZero():
		o.empty = time.Now()
	case !o.ended && time.Since(o.empty) > guardPatience:
		o.endStopped() // it has to tell of the end
	}
	o.looks.Reset(o.pace.after(begin))
}

// exit tells of the command's end, as soon as nobody is on the way to a session
// of its own, and the terminal can be taken back.
func (o *owner) exit() {
	if o.exited || !o.ended || o.jobs.ended != nil || o.settled != nil && o.empty.IsZero() {
		return
	}
	o.exited = true
	o.p.tty.takeBack(o.p.command)
	close(o.p.exited)
}
