//go:build unix

package child

import (
	"encoding/json"
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
	command int // the id of the command, and of its process group
	tty     *terminal
	asked   chan request
	resume  func() bool

	mu struct {
		sync.Mutex
		stopped bool // see IsStopped
	}
}

// request is what a caller asks the owner of a command for.
type request struct {
	sig  syscall.Signal // to the group
	term bool           // all of the family is to end
	kill bool
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
	g, err := startGuards(append([]*os.File{c.Stdin, c.Stdout, c.Stderr}, c.Files...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	events := g.listen()
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	p.asked, p.resume, p.tty = make(chan request, 16), c.Resume, openTerminal()
	if err := p.launch(path, c, g, events); err != nil {
		g.dismiss()
		p.tty.close()
		return nil, err
	}
	go newOwner(p, g, events).run()
	return p, nil
}

// launch has the inner guard start the command if all is ready.
func (p *Process) launch(path string, c Command, g *guards, events <-chan event) error {
	first, ok := <-events
	if !ok || first.Kind != guardReady {
		return fmt.Errorf("%w: it has ended", ErrGuard)
	}
	g.inner = first.N
	if err := c.Ready(); err != nil {
		return err
	}
	foreground := p.tty.inForeground() && p.tty.is(c.Stdin) && p.tty.is(c.Stdout)
	g.tellBoth(order{Grace: c.Grace})
	tell(g.toInner, order{Start: &program{[]byte(path), raw(c.Args), raw(c.Env), foreground}})
	started := <-events
	if started.Kind == commandStarted {
		p.command = started.N
		tell(g.toOuter, order{Command: p.command})
		return nil
	}
	if foreground {
		p.tty.reclaim() // the command's process may have taken it
	}
	if started.Kind == commandFailed {
		return &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(started.N)}
	}
	return fmt.Errorf("%w: it has ended", ErrGuard)
}

// listen returns what the inner guard tells. The channel is closed when that
// has ended.
func (g *guards) listen() <-chan event {
	events := make(chan event, 16)
	go func() {
		defer close(events)
		for d := json.NewDecoder(g.events); ; {
			var e event
			if d.Decode(&e) != nil {
				return
			}
			events <- e
		}
	}()
	return events
}

// Signal sends a signal to the command and to all others in its group. It does
// nothing if there are none.
func (p *Process) Signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		p.ask(request{sig: s})
	}
}

// Terminate asks the command, and all that descends from it, to end, also if
// they are stopped.
func (p *Process) Terminate() { p.ask(request{term: true}) }

// Kill ends the command, and all that descends from it.
func (p *Process) Kill() { p.ask(request{kill: true}) }

// ask hands a request to the owner, which carries them out in their order.
func (p *Process) ask(r request) {
	select {
	case p.asked <- r:
	case <-p.gone:
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

// PID returns the id of the command, and of its group.
func (p *Process) PID() int { return p.command }

// PassesFiles says that a Command can have Files.
const PassesFiles = true
