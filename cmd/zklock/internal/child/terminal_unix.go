//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of this program. A nil one is no
// terminal: its methods do nothing.
type terminal struct{ fd int }

// openTerminal returns the controlling terminal, or nil.
func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd}
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd)
	}
}

// is reports whether f is a terminal. It may be another one only by
// redirection, which nobody does to a program in the foreground.
func (t *terminal) is(f *os.File) bool {
	if t == nil || f == nil {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// foreground returns the process group in the foreground, or 0.
func (t *terminal) foreground() int {
	if t == nil {
		return 0
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// inForeground reports whether this program is in the foreground.
func (t *terminal) inForeground() bool { return t.foreground() == unix.Getpgrp() }

// give puts a group into the foreground.
func (t *terminal) give(group int) {
	// From the background that is allowed to those that ignore SIGTTOU. Children
	// would inherit that, so that it is not for long.
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group)
}

// takeBack puts this program into the foreground if a group of it is there.
func (t *terminal) takeBack(group int) {
	if t != nil && t.foreground() == group {
		t.give(unix.Getpgrp())
	}
}

// stopped is called when the command was stopped. If it was stopped because it
// wants the terminal, it gets that. In other cases this program stops, too, so
// that a shell with job control sees a job that is stopped.
func (p *Process) stopped(sig syscall.Signal) {
	if p.tty == nil {
		return
	}
	wants := sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
	if !wants || !p.tty.inForeground() {
		p.tty.takeBack(p.group)
		p.stopJob()
		if p.resume != nil {
			p.resume()
		}
	}
	if p.tty.inForeground() {
		p.tty.give(p.group)
	}
	p.Signal(syscall.SIGCONT)
}

// forwardStops passes Ctrl-Z on to the child's group while that is in the
// background, and stopped follows. If this program alone stopped, the child
// would go on without anybody who sees that the lock is lost.
func (p *Process) forwardStops() (end func()) {
	if p.tty == nil {
		return func() {}
	}
	p.stops = make(chan os.Signal, 1)
	signal.Notify(p.stops, syscall.SIGTSTP)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case sig := <-p.stops:
				p.Signal(sig)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(p.stops)
		close(done)
		<-ended
	}
}

// notStopped is the time after which this program was not stopped, because no
// shell would ever continue it.
const notStopped = 100 * time.Millisecond

// stopJob stops this program's own group, and returns when it goes on. The
// system does not stop a group that no shell looks after.
func (p *Process) stopJob() {
	signal.Reset(syscall.SIGTSTP)
	defer signal.Notify(p.stops, syscall.SIGTSTP)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(notStopped):
	}
}
