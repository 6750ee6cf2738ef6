//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Supported says that Start can start a command.
const Supported = true

// Forwarded are the signals that a program passes on to its child.
var Forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// system is the part of a Process that differs from system to system.
type system struct {
	command int // the id of the command, and of its process group; 0 if it is not known
	tty     *terminal
	asked   chan request
}

// Prepare is called before a lock is held for a command, and stop after it. This
// program adopts orphans of its commands meanwhile. A write to a closed pipe is an
// error, and Ctrl-Z has no effect: by default, the first would end this program,
// and with it the lock, and the second would stop this program alone, so that
// nobody could stop the command when the lock is lost. Children are not concerned.
func Prepare() (stop func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGTSTP)
	adoptOrphans()
	return reapOrphans()
}

// request is what a caller asks the owner of a command for. The kind of event is
// one of those that begin with askedTo.
type request struct {
	do  eventKind
	sig syscall.Signal // for askedToSignal
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
	p.tty = openTerminal()
	if err := p.launch(path, c, g); err != nil {
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

// Kill ends the command, and all that descends from it.
func (p *Process) Kill() { p.ask(request{do: askedToKill}) }

// ask hands a request to the owner, which carries them out in their order.
func (p *Process) ask(r request) {
	select {
	case p.asked <- r:
	case <-p.gone:
	}
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
