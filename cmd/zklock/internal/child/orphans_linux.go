package child

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this program the parent of its descendants whose own
// parents have died, so that it can wait for them.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// adopts says that this program becomes the parent of orphans below it.
const adopts = true

// reapOrphans reaps adopted children, including children that the first process of a
// container gets, until the returned function is called. Every child that this package
// has not started counts as adopted.
func reapOrphans() (stop func()) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			reapAdopted()
			select {
			case <-ended:
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(ended)
		close(done)
		<-stopped
	}
}

// reapAdopted reaps all adopted children that have ended. A child that this package has
// started is reaped by its own waiter.
func reapAdopted() {
	for {
		pid, err := peekEnded(unix.WEXITED | unix.WNOHANG)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return
		default:
			if own := children.find(pid); own != nil {
				<-own.ended
			} else {
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		}
	}
}

// peekEnded returns a child that has ended, or has stopped if the options ask for that,
// without reaping the child.
func peekEnded(options int) (pid int, err error) {
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_ALL, 0, &info, options|unix.WNOWAIT, nil); err != nil {
		return 0, err
	}
	// The id follows three numbers, aligned like a pointer; see sigaction(2).
	const wordSize = unsafe.Sizeof(uintptr(0))
	const offset = (3*4 + wordSize - 1) / wordSize * wordSize
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), offset))), nil
}

// wait waits for the command or an orphan. If an orphan that has ended was the leader
// of a session, wait notes that session; see family.
func (g *guarding) wait(flags int) (pid int, ws syscall.WaitStatus, err error) {
	pid, err = peekEnded(unix.WEXITED | unix.WSTOPPED | flags&unix.WNOHANG)
	if err != nil || pid == 0 {
		return 0, 0, err
	}
	if p, ok := readProcess(pid); ok && p.dead && p.session == pid {
		g.family.leftIn(pid)
		g.tell(saysLeft, pid)
	}
	pid, err = syscall.Wait4(pid, &ws, flags|syscall.WNOHANG, nil)
	if pid == 0 && err == nil { // the child was stopped and has been continued
		err = syscall.EINTR
	}
	return pid, ws, err
}
