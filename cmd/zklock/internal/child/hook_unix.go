//go:build unix

package child

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// RunFor runs a command in a process group of its own, and returns when nothing
// of the group is left. What is left after a time, also in the background, is
// killed; the error says so then. In any other case it is that of cmd.Run. The
// command needs files, or nothing, for its output.
func RunFor(limit time.Duration, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	group := cmd.Process.Pid
	over := time.After(limit)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if waitAdopted(group, over) {
			return err
		}
		_ = syscall.Kill(-group, syscall.SIGKILL)
	case <-over:
		_ = syscall.Kill(-group, syscall.SIGKILL)
		<-ended
	}
	waitAdopted(group, nil)
	return fmt.Errorf("killed after %v", limit)
}

// waitAdopted is waitGroupGone for a group whose first process was waited for.
// The others become children of this program when their parents have ended; see
// adoptOrphans.
func waitAdopted(group int, over <-chan time.Time) bool {
	return waitGone(over, func() bool {
		for {
			pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil)
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				return !groupExists(group)
			}
		}
	})
}
