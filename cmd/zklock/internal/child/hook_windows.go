package child

import (
	"fmt"
	"os/exec"
	"time"
)

// RunFor runs a command, and kills it after a time; the error says so then. If
// the command cannot be started, the error matches ErrNotStarted. Any other
// error is cmd.Wait's. What the command has started goes on.
func RunFor(limit time.Duration, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		return fmt.Errorf("killed after %v", limit)
	}
	return err
}
