//go:build unix

package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// guardName is the guard's name in the list of processes, and how the program
// knows that it is meant to be one.
const guardName = "zklock-guard"

// farewell is the last byte to a guard that is not needed any more.
const farewell = '.'

// guard is this program's end of the pipe to its guard. The guard is a process
// that reads until the other end is closed, which the system does however this
// program dies.
type guard struct {
	proc *os.Process
	pipe *os.File
}

// startGuard starts a guard, which does nothing until protect is called.
func startGuard() (*guard, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	proc, err := os.StartProcess(path, []string{guardName}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []*os.File{r},
		Sys:   &syscall.SysProcAttr{Setpgid: true}, // the terminal's signals are not for it
	})
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &guard{proc: proc, pipe: w}, nil
}

// protect tells the guard what to kill, and after which grace. A guard that has
// died is no error: the command goes on, under the parent-death signal.
func (g *guard) protect(group int, grace time.Duration) {
	fmt.Fprintln(g.pipe, group, int64(grace))
}

// dismiss ends the guard and waits for its end.
func (g *guard) dismiss() {
	_, _ = g.pipe.Write([]byte{farewell})
	g.pipe.Close()
	_, _ = g.proc.Wait()
}

// RunHelper must be the first call of main. It is the whole life of a process
// that is a guard or a launcher, and does nothing in any other.
func RunHelper() {
	switch os.Args[0] {
	case guardName:
		beGuard()
	case launcherName:
		beLauncher(os.Args)
	}
}

// beGuard is the life of a guard.
func beGuard() {
	// Only the end of the program that it guards ends it.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	told, err := io.ReadAll(os.Stdin)
	if err == nil && !bytes.HasSuffix(told, []byte{farewell}) {
		endGroup(string(told))
	}
	os.Exit(0)
}

// endGroup ends the group of a program that has died.
func endGroup(told string) {
	var group int
	var grace time.Duration
	if _, err := fmt.Sscanln(told, &group, (*int64)(&grace)); err != nil || group <= 1 {
		return // it died before it had started a launcher
	}
	_ = syscall.Kill(-group, syscall.SIGTERM)
	_ = syscall.Kill(-group, syscall.SIGCONT)
	if !waitGroupGone(group, time.After(grace)) {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}
