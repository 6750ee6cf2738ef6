//go:build unix

package child

import (
	"os"
	"os/signal"
	"sync"
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

// give puts a group into the foreground. This program must be there.
func (t *terminal) give(group int) { _ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) }

// takeBack puts this program into the foreground if a group of it is there.
func (t *terminal) takeBack(group int) {
	if t != nil && t.foreground() == group {
		t.reclaim()
	}
}

// reclaim puts this program into the foreground, from wherever it is.
func (t *terminal) reclaim() {
	// From the background that is for those that ignore SIGTTOU. Package signal
	// cannot take that back, so that later commands of this program ignore it,
	// too.
	signal.Ignore(syscall.SIGTTOU)
	t.give(unix.Getpgrp())
}

// stopped is called when the command was stopped. If it was stopped because it
// wants the terminal, it gets that. In other cases all that descends from it
// stops, and then this program, so that a shell with job control sees a job that
// is stopped. Once the command was asked to end, nothing stops any more.
func (p *Process) stopped(sig syscall.Signal, over <-chan struct{}) {
	if p.tty == nil {
		return
	}
	s := stop{sig: sig, foreground: p.tty.inForeground()}
	s.attended = s.foreground || isAttended()
	switch s.first() {
	case keepTrying:
		p.tryAgain(over)
		return
	case pauseJob:
		if !p.pauseJob(s, over) {
			return
		}
	}
	if p.tty.inForeground() && (s.wants() || !p.background) {
		p.tty.give(p.command)
	}
	p.ask(request{do: askedToResume})
}

// pauseJob stops the command's family and this program. It reports whether the
// command may go on.
func (p *Process) pauseJob(s stop, over <-chan struct{}) bool {
	if !p.pause() {
		switch s.instead(p.IsStopped()) {
		case goOn:
			p.Signal(syscall.SIGCONT)
		case keepTrying:
			p.tryAgain(over)
		}
		return false
	}
	p.tty.takeBack(p.command)
	p.noteStopped(true)
	stopJob()
	if !p.resume() {
		p.ask(request{do: askedToStayStopped})
		return false
	}
	p.noteStopped(false)
	return true
}

// tryAgain continues a command that has stopped because it wants the terminal, and
// that no shell would continue. The command may stop again for the same reason, so
// it is given some time first.
func (p *Process) tryAgain(over <-chan struct{}) {
	select {
	case <-time.After(betweenTries):
	case <-over:
	}
	p.Signal(syscall.SIGCONT)
}

const betweenTries = time.Second

// pause stops all of the command's family. It reports false if that may not stop
// any more.
func (p *Process) pause() bool { return p.askAndWait(askedToPause) }

// jobs is the goroutine that follows when the command is stopped, which can
// take as long as somebody at the terminal likes.
type jobs struct {
	stops chan syscall.Signal // the signals that stop the command
	over  chan struct{}       // closed when the command has ended
	ended chan struct{}
}

// tell tells of a stop. Of two that come at once, one counts.
func (j *jobs) tell(sig syscall.Signal) {
	select {
	case j.stops <- sig:
	default:
	}
}

// end ends the goroutine.
func (j *jobs) end() {
	close(j.over)
	close(j.stops)
}

// controlJobs starts the goroutine. It ends the forwarding, too.
func (p *Process) controlJobs() *jobs {
	j := &jobs{stops: make(chan syscall.Signal, 1), over: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(j.ended)
		defer p.endForwarding()
		for sig := range j.stops {
			p.stopped(sig, j.over)
		}
	}()
	return j
}

// forwardStops passes Ctrl-Z on to the child's group while that is in the
// background, and stopped follows, until the function returned is called. It
// must begin before the child does: if this program alone stopped, the child
// would go on without anybody who sees that the lock is lost.
func (p *Process) forwardStops() (end func()) {
	if p.tty == nil {
		return func() {}
	}
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case sig := <-stops:
				select {
				case p.asked <- request{do: askedToSignal, sig: sig.(syscall.Signal)}:
				case <-done:
				}
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(stops)
		close(done)
		<-ended
	})
}

// stopJob stops this program's own group, and returns when it goes on. It does
// nothing if nobody would continue the group. It does not use SIGTSTP, for which
// package signal cannot restore the default.
func stopJob() {
	if !isAttended() {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-continued
	}
}

// isAttended reports whether a shell looks after this program's group: the shell is
// in another group of the session, and the parent of this program, or of one that
// is above it in the group. A script without such a shell stops with the group, and
// continues nobody.
func isAttended() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group := unix.Getpgrp()
	for pid := unix.Getppid(); pid > 0; pid = parentOf(pid) {
		if of, err := unix.Getsid(pid); err != nil || of != session {
			return false
		}
		if of, err := unix.Getpgid(pid); err != nil || of != group {
			return err == nil
		}
	}
	return false
}
