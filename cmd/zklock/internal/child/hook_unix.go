//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// RunFor runs a command like Start, with nothing to read, and returns when
// nothing of it is left. What is left after a time, also in the background, is
// killed; the error says so then. In any other case it is that of cmd.Run. The
// command needs files, or nothing, for its output.
func RunFor(limit time.Duration, cmd *exec.Cmd) error {
	over := time.After(limit)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := Start(Command{
		Args: cmd.Args, Env: cmd.Env,
		Stdin: null, Stdout: fileOr(cmd.Stdout, null), Stderr: fileOr(cmd.Stderr, null),
		Ready:  func() error { return nil },
		Resume: func() bool { return true },
	})
	if err != nil {
		return err
	}
	select {
	case <-p.Gone():
		if status := p.Status(); status != 0 {
			return fmt.Errorf("exit status %d", status)
		}
		return nil
	case <-over:
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
