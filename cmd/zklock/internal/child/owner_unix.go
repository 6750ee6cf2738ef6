//go:build unix

package child

import (
	"syscall"
	"time"
)

// owner owns a command from its start until its last process has ended. It passes
// events to a course, and takes the steps that follow.
type owner struct {
	course
	p      *Process
	guard  *guard
	family *family

	reports <-chan report // nil when the guard has ended
	looks   *time.Timer
	settled <-chan time.Time
	dead    <-chan struct{}  // closed when the command has ended, perhaps not yet reaped by the guard
	overdue <-chan time.Time // when the guard should have reported the command's end
	resumes <-chan time.Time // see continueLater
}

// settling is how long after the command's end its last children may still leave by
// setsid(2).
const settling = 50 * time.Millisecond

// betweenTries is the time until a command retries to use the terminal.
const betweenTries = time.Second

func newOwner(p *Process, g *guard) *owner {
	o := &owner{p: p, guard: g, reports: g.reports}
	o.family = newFamily(p.command, g.proc.pid, g.began)
	if p.command > 0 { // otherwise the command is not known to have begun
		o.dead = Ended(p.command)
	}
	o.looks = time.NewTimer(0)
	<-o.looks.C
	return o
}

// run is the life of the owner.
func (o *owner) run() {
	defer close(o.p.gone)
	defer o.p.tty.close()
	defer o.guard.dismiss()
	o.untilGone()
}

// untilGone returns when no process of the command is left.
func (o *owner) untilGone() {
	defer o.looks.Stop()
	for !o.isOver() {
		o.learn(o.next())
	}
}

// next waits for the next event.
func (o *owner) next() event {
	select {
	case r := <-o.p.asked:
		return event{kind: r.do, sig: r.sig}
	case r, ok := <-o.reports:
		if !ok {
			o.reports = nil
			return event{kind: guardEnded}
		}
		e := r.event()
		e.tty = o.p.tty.standing()
		return e
	case <-o.looks.C:
		return event{kind: lookDue}
	case <-o.dead:
		o.dead = nil
		return event{kind: commandDead}
	case <-o.overdue:
		o.overdue = nil
		return event{kind: guardLate}
	case <-o.settled:
		return event{kind: settlingOver}
	case <-o.resumes:
		return event{kind: continueDue}
	}
}

// learn takes the steps that follow from an event, and from the events of these steps.
func (o *owner) learn(e event) {
	e.at = time.Now()
	for _, s := range o.on(e) {
		o.take(s)
	}
}

func (o *owner) take(s step) {
	switch s.kind {
	case beginEnd:
		o.family.begin() // the command's children must not leave because of its end
		o.guard.tell(order{Ending: o.family.howItEnds()})
	case tellTermed:
		o.guard.tell(order{Termed: true})
	case signalGroup:
		o.p.noteRefused(o.family.signalGroup(s.sig))
	case terminateFamily:
		o.p.noteRefused(o.family.signal(syscall.SIGTERM, syscall.SIGCONT))
	case look:
		o.look(s.ok)
	case lookLater:
		o.looks.Reset(s.wait)
	case giveTerminal:
		o.p.tty.give(o.p.command)
	case continueLater:
		o.resumes = time.After(betweenTries)
	case noteLeft:
		o.family.leftIn(s.n)
	case forgetGroup:
		o.family.forgetGroup()
	case settle:
		o.settled = time.After(settling)
	case rouseGuard:
		o.guard.signal(syscall.SIGCONT)
		o.overdue = time.After(guardPatience)
	case killStoppedGuard:
		if isStopped(o.guard.proc.pid) {
			o.guard.signal(syscall.SIGKILL)
		}
	case takeOver:
		o.family.gather()
		o.family.takeOver()
	case tellExit:
		o.p.tty.takeBack(o.p.command)
		o.p.status, o.p.guardDied = o.status, o.guardDied
		close(o.p.exited)
	}
}

// look searches whether any process of the family is left. If killing is true, look first
// kills all processes.
func (o *owner) look(killing bool) {
	begin := time.Now()
	if killing {
		o.p.noteRefused(o.family.kill())
	}
	empty := o.family.isEmpty()
	o.learn(event{kind: familySeen, ok: empty, took: time.Since(begin)})
}
