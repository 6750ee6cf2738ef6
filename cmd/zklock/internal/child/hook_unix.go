//go:build unix

package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// RunFor runs a command like Start, with nothing to read, and returns when
// nothing of it is left. What is left after a time, also in the background, is
// killed; the error says so then. If the command cannot be started, the error
// matches ErrNotStarted. If the command fails, the error says its exit status.
// The command needs files, or nothing, for its output. It does not get the
// terminal: if it wants to use that, it stops, and this program does not.
func RunFor(limit time.Duration, cmd *exec.Cmd) error {
	over, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer null.Close()
	p, err := Start(Command{
		Args: cmd.Args, Env: cmd.Env,
		Stdin: null, Stdout: fileOr(cmd.Stdout, null), Stderr: fileOr(cmd.Stderr, null),
		Ready:      func() error { return nil },
		Resume:     func() bool { return true },
		Cancel:     over.Done(),
		NoTerminal: true,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	select {
	case <-p.Gone():
		if status := p.Status(); status != 0 {
			return fmt.Errorf("exit status %d", status)
		}
		return nil
	case <-over.Done():
		p.Kill()
		<-p.Gone()
		return fmt.Errorf("killed after %v", limit)
	}
}

// fileOr returns what is a file, or another one.
func fileOr(f any, other *os.File) *os.File {
	if file, ok := f.(*os.File); ok && file != nil {
		return file
	}
	return other
}
