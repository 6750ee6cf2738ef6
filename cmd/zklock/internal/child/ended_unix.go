//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// betweenChecks is the time between two checks of a process whose end the system
// does not tell.
const betweenChecks = time.Second

// Ended returns a channel that is closed when a process has ended, whether or not
// its parent has waited for it. The process may be this program's parent.
func Ended(pid int) <-chan struct{} {
	if ended := whenDead(pid); ended != nil {
		return ended
	}
	isParent := os.Getppid() == pid
	ended := make(chan struct{})
	go func() { // it ends with the process
		defer close(ended)
		for !isParent || os.Getppid() == pid {
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				return
			}
			<-time.After(betweenChecks)
		}
	}()
	return ended
}
