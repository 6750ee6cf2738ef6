package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is one run of a command. The goroutine run starts the command, waits
// for it and ends with it.
type process struct {
	cmd     *exec.Cmd
	logFile string
	// Closed by run when the command has started or failed to start.
	started chan struct{}
	// Closed by run at its very end, when the command has ended or failed to
	// start.
	done chan struct{}
	err  error // how the command ended; set before done is closed

	mu struct {
		sync.Mutex
		resumed chan struct{} // closed by the next resume; nil if not paused since the last resume
	}
}

func startProcess(cmd *exec.Cmd, logFile string) *process {
	p := &process{cmd: cmd, logFile: logFile, started: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

// run stays on one OS thread while the command runs. On Linux the kernel kills
// the command when the thread that started it ends. A thread of the Go runtime
// may end long before the program does, unless a goroutine is locked to it.
func (p *process) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.start()
	close(p.started)
	if err != nil {
		p.err = err
		return
	}
	p.err = p.cmd.Wait()
}

// start gives the command a file for its output. With a pipe, a goroutine would
// have to copy it.
func (p *process) start() error {
	out, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = dieWithParent()
	return p.cmd.Start()
}

// running reports whether the command has not ended. A nil process does not
// run.
func (p *process) running() bool {
	if p == nil {
		return false
	}
	return !isClosed(p.done)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// exitError says how a command ended that should not have ended.
func (p *process) exitError() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// kill ends the command at once and waits for its end.
func (p *process) kill() error {
	err := p.signal(os.Kill)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		<-p.done
		return nil
	}
	return err
}

// terminate asks the command to end and waits for its end. After the grace
// period it kills the command and returns an error.
func (p *process) terminate(grace time.Duration) error {
	if runtime.GOOS == "windows" { // Windows has no signal that asks for it.
		return p.kill()
	}
	// A stopped process receives the signal only when it continues.
	_ = p.resume()
	if err := p.signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, p.kill())
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return errors.Join(fmt.Errorf("still running %v after SIGTERM, killed", grace), p.kill())
	}
}

// signal returns os.ErrProcessDone if the command has ended or never started.
func (p *process) signal(sig os.Signal) error {
	<-p.started
	if p.cmd.Process == nil {
		return os.ErrProcessDone
	}
	return p.cmd.Process.Signal(sig)
}
