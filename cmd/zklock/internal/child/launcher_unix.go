//go:build unix

package child

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// launcherName is the launcher's name in the list of processes, and how the
// program knows that it is meant to be one.
const launcherName = "zklock-launcher"

// launcher is a process that becomes the command when it is told to. So the
// guard knows the process before the command has done anything, and nothing of
// the command is left behind whenever this program dies.
type launcher struct {
	proc   *os.Process
	gate   *os.File // a byte: become the command. The end of the file: do not.
	result *os.File // an error's number, or nothing once the command runs
}

// startLauncher starts a launcher that waits.
func startLauncher(path string, c Command, attr *syscall.SysProcAttr) (*launcher, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	gateEnd, gate, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer gateEnd.Close()
	result, resultEnd, err := os.Pipe()
	if err != nil {
		gate.Close()
		return nil, err
	}
	defer resultEnd.Close()
	files := append([]*os.File{c.Stdin, c.Stdout, c.Stderr}, c.Files...)
	args := append([]string{launcherName, strconv.Itoa(len(files)), path}, c.Args...)
	proc, err := os.StartProcess(self, args, &os.ProcAttr{
		Env:   c.Env,
		Files: append(files, gateEnd, resultEnd),
		Sys:   attr,
	})
	if err != nil {
		gate.Close()
		result.Close()
		return nil, err
	}
	return &launcher{proc: proc, gate: gate, result: result}, nil
}

// launch has the launcher become the command. A launcher that has died says so
// by its status.
func (l *launcher) launch() {
	_, _ = l.gate.Write([]byte{0})
	l.gate.Close()
}

// dismiss ends a launcher that has not become the command.
func (l *launcher) dismiss() {
	l.gate.Close()
	l.result.Close()
	_, _ = l.proc.Wait()
}

// launched waits until the command runs, and returns why it does not.
func (l *launcher) launched(path string) error {
	defer l.result.Close()
	told, err := io.ReadAll(l.result)
	if err != nil || len(told) == 0 {
		return err
	}
	number, err := strconv.Atoi(string(told))
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(number)}
}

// beLauncher is the life of a launcher until it is the command.
func beLauncher(args []string) {
	// What execve(2) keeps of a program is that of the calling thread.
	runtime.LockOSThread()
	dieWithParent()
	exitAtSignals()
	if len(args) < 4 {
		os.Exit(127) // nobody but startLauncher has started it
	}
	gate, err := strconv.Atoi(args[1])
	if err != nil {
		os.Exit(127)
	}
	result := gate + 1
	syscall.CloseOnExec(gate)
	syscall.CloseOnExec(result)
	if !isTold(gate) {
		os.Exit(0)
	}
	err = syscall.Exec(args[2], args[3:], os.Environ())
	var number syscall.Errno
	errors.As(err, &number)
	_, _ = syscall.Write(result, []byte(strconv.Itoa(int(number))))
	os.Exit(127)
}

// exitAtSignals has a signal end the launcher: the command is not started any
// more. Without it a Go program ignores some of them. execve(2) restores the
// defaults.
func exitAtSignals() {
	asked := make(chan os.Signal, 1)
	for _, sig := range Forwarded {
		if !signal.Ignored(sig) { // the command has to inherit that
			signal.Notify(asked, sig)
		}
	}
	go func() {
		sig, _ := (<-asked).(syscall.Signal)
		os.Exit(128 + int(sig))
	}()
}

// isTold waits for the gate's byte.
func isTold(gate int) bool {
	for {
		n, err := syscall.Read(gate, make([]byte, 1))
		if !errors.Is(err, syscall.EINTR) {
			return n == 1
		}
	}
}
