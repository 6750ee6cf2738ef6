//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of this program. Without one, it is nil, and its
// methods do nothing.
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

// is reports whether f is a terminal. A file that is another terminal would need a
// redirection, which does not happen to a program in the foreground.
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

// standing returns this program's relation to the terminal.
func (t *terminal) standing() tty {
	switch {
	case t == nil:
		return noTerminal
	case t.inForeground():
		return foreground
	}
	return background
}

// give puts a group into the foreground. This program must be there.
func (t *terminal) give(group int) { _ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) }

// takeBack puts this program into the foreground if the given group is there.
func (t *terminal) takeBack(group int) {
	if t != nil && t.foreground() == group {
		t.reclaim()
	}
}

// reclaim puts this program into the foreground, even from the background.
func (t *terminal) reclaim() {
	// A program in the background may do that only if it ignores SIGTTOU. Package
	// signal cannot undo the ignoring, so later commands of this program ignore the
	// signal, too.
	signal.Ignore(syscall.SIGTTOU)
	t.give(unix.Getpgrp())
}
