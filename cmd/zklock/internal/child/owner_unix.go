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
	empty   time.Time // since when there is nobody of the family, if that is known

	ended   bool // the command has
	killing bool
	exited  bool // all who wait for the command's end know
}

// settling is how long what the command has started last has to go its own way,
// by setsid(2), after the command's end.
const settling = 50 * time.Millisecond

func newOwner(p *Process, g *guards, events <-chan event) *owner {
	o := &owner{p: p, guards: g, events: events, outer: g.proc.ended}
	o.family = newFamily(p.command, g.proc.pid, g.inner)
	o.jobs = p.controlJobs()
	o.looks = time.NewTimer(0)
	<-o.looks.C
	return o
}

// run is the life of the owner.
func (o *owner) run() {
	defer close(o.p.gone)
	defer o.p.tty.close()
	defer o.guards.dismiss()
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
		case <-o.settled:
			o.settled = nil
		case <-o.jobs.ended:
			o.jobs.ended = nil
		}
		o.exit()
	}
}

// carryOut does what is asked for. Guards know of SIGTERM before the command
// does, so that they leave no second grace if this program dies.
func (o *owner) carryOut(r request) {
	if r.kill || r.term || r.sig == syscall.SIGTERM {
		o.guards.termed()
	}
	switch {
	case r.kill:
		o.killing = true
		o.look()
	case r.term:
		o.family.signal(syscall.SIGTERM, syscall.SIGCONT)
	case slices.Contains(stopSignals, r.sig):
		o.family.begin() // what the command is the parent of does not leave by its end
		o.family.group.signal(r.sig)
	default:
		o.family.group.signal(r.sig)
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
		o.empty = time.Now()
	}
}

// end is called when the command has ended.
func (o *owner) end(status int) {
	o.ended = true
	o.p.status = status
	o.family.forgetGroup()
	close(o.jobs.stops)
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
		// Somebody has stopped the inner guard, which has to tell of the end.
		_ = syscall.Kill(o.guards.inner, syscall.SIGKILL)
	}
	o.looks.Reset(pauseAfter(begin))
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
