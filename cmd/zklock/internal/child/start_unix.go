//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Supported is true if Start can start a command.
const Supported = true

// Forwarded are the signals that a program passes on to its child.
var Forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// system is the part of a Process that differs from system to system.
type system struct {
	command int // the id of the command and its process group; 0 if not known
	tty     *terminal
	asked   chan request
}

// Prepare must be called before a lock is acquired for a command, and stop afterwards.
// In between, this program adopts orphans of its commands, a write to a closed pipe
// returns an error, and Ctrl-Z has no effect. By default, such a write would end this
// program and lose the lock, and Ctrl-Z would stop only this program, which could then
// not stop the command when the lock is lost. Children keep the defaults.
func Prepare() (stop func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGTSTP)
	adoptOrphans()
	return reapOrphans()
}

// request is a caller's request to the owner of a command. Its kind of event begins
// with askedTo.
type request struct {
	do  eventKind
	sig syscall.Signal // for askedToSignal
}

// Start starts a command. The error matches fs.ErrNotExist or exec.ErrNotFound if there
// is no such program. The caller must wait for Gone, after Kill if necessary.
//
// If standard input and output are the terminal, and this program is in the foreground
// there, Start puts the child's group into the foreground. Otherwise the child's group
// gets the terminal when it tries to use the terminal. At the end, this program takes
// the terminal back.
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

// launch makes the guard start the command if everything is ready.
func (p *Process) launch(path string, c Command, g *guard) error {
	if first, ok := <-g.reports; !ok || first.Kind != saysReady {
		return fmt.Errorf("%w: the guard has ended", ErrGuard)
	}
	if err := c.Ready(); err != nil {
		return err
	}
	foreground := !c.Background && p.tty.inForeground() && p.tty.is(c.Stdin) && p.tty.is(c.Stdout)
	// The goroutine ends when the guard has read the order or has died. Without the
	// goroutine, a stopped guard would block a cancellation.
	go g.tell(order{Grace: c.Grace, Start: &program{[]byte(path), raw(c.Args), raw(c.Env), foreground}})
	begun, err := g.begun(c.Cancel)
	if begun.Kind == saysStarted {
		p.command = begun.N
	}
	if err != nil {
		newOwner(p, g).untilGone() // the command may have begun and started children
	}
	if begun.Kind == saysStarted && err == nil {
		return nil
	}
	if foreground {
		p.tty.reclaim() // the command's process may have taken the terminal
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(begun.N)}
	}
	return err
}

// begun waits until the guard reports that the command has begun or could not begin. If
// begun returns an error, the guard has ended, and the command may still have begun.
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
	case r, ok := <-g.reports: // the report arrived before the cancellation
		return r, orDead(ok)
	default:
	}
	// The command dies with its parent, even while the system loads the program.
	g.proc.kill()
	var begun report
	for r := range g.reports {
		if r.Kind == saysStarted {
			begun = r
		}
	}
	return begun, ErrCanceled
}

// orDead returns an error if the guard's reports have ended.
func orDead(tells bool) error {
	if !tells {
		return fmt.Errorf("%w: the guard has ended", ErrGuard)
	}
	return nil
}

// Signal sends a signal to all processes in the command's group, if there are any.
func (p *Process) Signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		p.ask(request{do: askedToSignal, sig: s})
	}
}

// Terminate sends SIGTERM to the command and all its descendants, and continues stopped
// ones.
func (p *Process) Terminate() { p.ask(request{do: askedToTerminate}) }

// Kill kills the command and all its descendants.
func (p *Process) Kill() { p.ask(request{do: askedToKill}) }

// ask hands a request to the owner, which carries out requests in order.
func (p *Process) ask(r request) {
	select {
	case p.asked <- r:
	case <-p.gone:
	}
}

// noteRefused reports a process that this program may not signal, unless pid is 0.
func (p *Process) noteRefused(pid int) {
	if pid == 0 {
		return
	}
	select {
	case p.refused <- pid:
	default: // the first process counts
	}
}
