//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Forwarded are the signals that a program passes on to its child.
var Forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// system is the part of a Process that differs from system to system.
type system struct {
	group  int // the id of the process group, and of the command
	guard  *guard
	tty    *terminal      // nil without a controlling terminal
	stops  chan os.Signal // SIGTSTP to this program
	resume func() bool

	mu struct {
		sync.Mutex
		over    bool // the group's id may be that of another group by now
		stopped bool // see IsStopped
	}
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
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	p.resume = c.Resume
	started := make(chan error)
	go p.run(path, c, started)
	if err := <-started; err != nil {
		<-p.gone
		return nil, err
	}
	return p, nil
}

// run owns the command from its start until nothing of it is left.
func (p *Process) run(path string, c Command, started chan<- error) {
	defer close(p.gone)
	// Linux sends the parent-death signal at the end of the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.tty = openTerminal()
	defer p.tty.close()
	l, err := p.start(path, c)
	if err != nil {
		started <- err
		return
	}
	// The launcher can be stopped like any command, so wait is not late.
	go func() { started <- l.launched(path) }()
	endForwarding := p.forwardStops()
	p.status = p.wait()
	endForwarding()
	p.tty.takeBack(p.group)
	close(p.exited)
	p.waitGroup()
	p.mu.Lock()
	p.mu.over = true
	p.mu.Unlock()
	p.guard.dismiss()
}

// start starts the guard, then the launcher, of which the guard is told, and
// has that become the command if all is ready.
func (p *Process) start(path string, c Command) (*launcher, error) {
	adoptOrphans()
	g, err := startGuard()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGuard, err)
	}
	attr := &syscall.SysProcAttr{Setpgid: true}
	if p.tty.inForeground() && p.tty.is(c.Stdin) && p.tty.is(c.Stdout) {
		attr.Foreground, attr.Ctty = true, p.tty.fd
	}
	l, err := startLauncher(path, c, attr)
	if err == nil {
		g.protect(l.proc.Pid, c.Grace)
		if err = c.Ready(); err != nil {
			l.dismiss()
		}
	}
	if err != nil {
		if attr.Foreground {
			p.tty.reclaim() // the launcher has taken it
		}
		g.dismiss()
		return nil, err
	}
	p.group, p.guard = l.proc.Pid, g
	// From here on wait4 is called directly: it tells of stops, too.
	_ = l.proc.Release()
	l.launch()
	return l, nil
}

// wait waits for the end of the command itself.
func (p *Process) wait() int {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(p.group, &ws, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 255 // somebody else has reaped it: there is no status
		case ws.Stopped():
			p.stopped(ws.StopSignal())
		case ws.Signaled():
			return 128 + int(ws.Signal())
		case ws.Exited():
			return ws.ExitStatus()
		}
	}
}

// groupPoll is how often to look whether a group has ended that this program
// cannot wait for.
const groupPoll = 10 * time.Millisecond

// waitGroup waits until the group has no processes. On Linux they have become
// this program's children; see adoptOrphans. Elsewhere, and if a parent outside
// of the group lives, only looking helps.
func (p *Process) waitGroup() {
	for {
		_, err := syscall.Wait4(-p.group, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	waitGroupGone(p.group, nil)
}

// waitGroupGone looks until a group has no processes, or until done delivers.
// It reports whether the group is gone.
func waitGroupGone(group int, done <-chan time.Time) bool {
	return waitGone(done, func() bool { return !groupExists(group) })
}

// waitGone looks until something is gone, or until done delivers. It reports
// whether it is gone.
func waitGone(done <-chan time.Time, isGone func() bool) bool {
	if isGone() {
		return true
	}
	tick := time.NewTicker(groupPoll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if isGone() {
				return true
			}
		case <-done:
			return false
		}
	}
}

func groupExists(group int) bool {
	return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
}

// Signal sends a signal to the command and to all others in its group. It does
// nothing if there are none.
func (p *Process) Signal(sig os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := sig.(syscall.Signal); ok && !p.mu.over {
		_ = syscall.Kill(-p.group, s) // ESRCH: they have just ended
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

// Terminate asks the command and its group to end, also if they are stopped.
func (p *Process) Terminate() {
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGCONT)
}

// Kill ends the command and its group at once.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// PID returns the id of the command, and of its group.
func (p *Process) PID() int { return p.group }

// Files of a Command get descriptors from FirstFile on.
const (
	PassesFiles = true
	FirstFile   = 3
)
