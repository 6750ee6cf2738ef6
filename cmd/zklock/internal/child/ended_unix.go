//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// betweenChecks is the time between two checks of a process whose end the system
// does not report.
const betweenChecks = time.Second

// Exists reports whether there is a process with this id.
func Exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Ended returns a channel that is closed when a process has ended, whether or not
// its parent has waited for it. The process may be this program's parent.
func Ended(pid int) <-chan struct{} {
	await := endOf(pid)
	isParent := os.Getppid() == pid
	ended := make(chan struct{})
	go func() { // the goroutine ends with the process
		defer close(ended)
		if await() == nil {
			return
		}
		for !isParent || os.Getppid() == pid {
			if !Exists(pid) {
				return
			}
			<-time.After(betweenChecks)
		}
	}()
	return ended
}
