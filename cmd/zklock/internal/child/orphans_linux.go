package child

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this program the parent of its descendants whose own
// parents have died, so that it can wait for them.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // older kernels: waitGroupGone
}

// ReapOrphans frees what is left of orphans that this program has adopted from
// earlier commands, and that have ended: processes that had left the group of
// their command. It goes on until the function returned is called. No child of
// this program's own may run meanwhile: ReapOrphans would take its status.
func ReapOrphans() (stop func()) {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			reapEnded()
			select {
			case <-children:
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(children)
		close(done)
		<-ended
	}
}

// reapEnded reaps all children that have ended.
func reapEnded() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
