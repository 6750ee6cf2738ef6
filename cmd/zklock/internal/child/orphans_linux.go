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

// reapOrphans waits for adopted children that have ended, as it does for those that
// the first process of a container gets, until the function returned is called. All
// children count as adopted that this package has not started.
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

// reapAdopted reaps all adopted children that have ended. Those of this
// program's own have somebody who waits for them.
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

// peekEnded returns a child that has ended, or has stopped if the options say
// so, and leaves it there to be waited for.
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

// wait waits for the command, or for an orphan. It notes a session whose leader
// was an orphan, and has ended; see family.
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
	if pid == 0 && err == nil { // it was stopped, and goes on by now
		err = syscall.EINTR
	}
	return pid, ws, err
}
