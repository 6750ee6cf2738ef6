//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Forwarded are the signals that a program passes on to its child.
var Forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// system is the part of a Process that differs from system to system.
type system struct {
	command int // the id of the command, and of its process group; 0 if it is not known
	tty     *terminal
	asked   chan request
	resume  func() bool

	background    bool   // see Command
	endForwarding func() // see forwardStops

	mu struct {
		sync.Mutex
		stopped bool // see IsStopped
	}
}

// request is what a caller asks the owner of a command for. The kind of event is
// one of those that begin with askedTo.
type request struct {
	do   eventKind
	sig  syscall.Signal // for askedToSignal
	done chan<- bool    // gets an answer: to askedToPause, whether the family is stopped
}

// Start starts a command. The error matches fs.ErrNotExist or exec.ErrNotFound
// if there is no such program. The caller reads Gone, after Kill if need be.
//
// If standard input and output are the terminal, and this program is in the
// foreground there, the child's group is put into the foreground. In any other
// case it is when it wants to use the terminal. This program takes the terminal
// back in the end.
func Start(c Command) (*Process, error) {
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err
	}
	adoptOrphans()
	g, err := startGuard(append([]*os.File{c.Stdin, c.Stdout, c.Stderr}, c.Files...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	p := newProcess()
	p.resume, p.background = c.Resume, c.Background
	if !c.NoTerminal {
		p.tty = openTerminal()
	}
	p.endForwarding = p.forwardStops()
	if err := p.launch(path, c, g); err != nil {
		p.endForwarding()
		g.dismiss()
		p.tty.close()
		return nil, err
	}
	go newOwner(p, g).run()
	return p, nil
}

func newProcess() *Process {
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{}), refused: make(chan int, 1)}
	p.asked = make(chan request, 16)
	return p
}

// launch has the guard start the command if all is ready.
func (p *Process) launch(path string, c Command, g *guard) error {
	if first, ok := <-g.reports; !ok || first.Kind != saysReady {
		return fmt.Errorf("%w: it has ended", ErrGuard)
	}
	if err := c.Ready(); err != nil {
		return err
	}
	foreground := !c.Background && p.tty.inForeground() && p.tty.is(c.Stdin) && p.tty.is(c.Stdout)
	// It ends when the guard has read it, or has died. A guard that is stopped
	// would keep this program from a cancellation.
	go g.tell(order{Grace: c.Grace, Start: &program{[]byte(path), raw(c.Args), raw(c.Env), foreground}})
	begun, err := g.begun(c.Cancel)
	if begun.Kind == saysStarted {
		p.command = begun.N
	}
	if err != nil {
		newOwner(p, g).untilGone() // the command may have begun, and have started others
	}
	if begun.Kind == saysStarted && err == nil {
		return nil
	}
	if foreground {
		p.tty.reclaim() // the command's process may have taken it
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(begun.N)}
	}
	return err
}

// begun waits until the guard tells that the command has begun, or has failed to.
// If there is an error, the guard has ended, and the command may have begun in any
// case.
func (g *guard) begun(cancel <-chan struct{}) (report, error) {
	if !adopts {
		cancel = nil // the command would not die with its guard
	}
	select {
	case r, ok := <-g.reports:
		return r, orDead(ok)
	case <-cancel:
	}
	select {
	case r, ok := <-g.reports: // it was told before
		return r, orDead(ok)
	default:
	}
	// The command dies with its parent, also while the system loads its program.
	g.proc.kill()
	var begun report
	for r := range g.reports {
		if r.Kind == saysStarted {
			begun = r
		}
	}
	return begun, ErrCanceled
}

// orDead returns an error if the guard tells nothing more.
func orDead(tells bool) error {
	if !tells {
		return fmt.Errorf("%w: it has ended", ErrGuard)
	}
	return nil
}

// Signal sends a signal to the command and to all others in its group. It does
// nothing if there are none.
func (p *Process) Signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		p.ask(request{do: askedToSignal, sig: s})
	}
}

// Terminate asks the command, and all that descends from it, to end, also if
// they are stopped.
func (p *Process) Terminate() { p.ask(request{do: askedToTerminate}) }

// BeginGrace says that the grace has begun, and the command is asked to end by
// other means than Terminate. Nobody leaves it any more, it does not stop any
// more, and the guard leaves no second grace. It returns when the guard knows.
func (p *Process) BeginGrace() { p.askAndWait(askedToBeginGrace) }

// Kill ends the command, and all that descends from it.
func (p *Process) Kill() { p.ask(request{do: askedToKill}) }

// ask hands a request to the owner, which carries them out in their order.
func (p *Process) ask(r request) {
	select {
	case p.asked <- r:
	case <-p.gone:
	}
}

// askAndWait returns the owner's answer, or false if nothing of the command is
// left.
func (p *Process) askAndWait(do eventKind) bool {
	done := make(chan bool, 1)
	p.ask(request{do: do, done: done})
	select {
	case answer := <-done:
		return answer
	case <-p.gone:
		return false
	}
}

// IsStopped reports whether the whole job was stopped, and may not go on yet.
func (p *Process) IsStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.stopped
}

func (p *Process) noteStopped(stopped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.stopped = stopped
}

// noteRefused notes that this program may not signal a process, if there is one.
func (p *Process) noteRefused(pid int) {
	if pid == 0 {
		return
	}
	select {
	case p.refused <- pid:
	default: // the first one counts
	}
}

// PID returns the id of the command, and of its group.
func (p *Process) PID() int { return p.command }

// PassesFiles says that a Command can have Files.
const PassesFiles = true
