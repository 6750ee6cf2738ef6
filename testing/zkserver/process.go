package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of a command. Its goroutine, own, starts the command, waits for it, and ends with it.
type process struct {
	cmd     *exec.Cmd
	logFile string
	started chan struct{} // closed by own when the command runs or could not be started
	done    chan struct{} // closed by own, its last act, when the command has ended or could not be started
	err     error         // how the command ended; set before done is closed
}

func startProcess(cmd *exec.Cmd, logFile string) *process {
	p := &process{cmd: cmd, logFile: logFile, started: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

// own keeps to one OS thread while the command runs. On Linux the kernel kills the command when the thread that started it
// ends, and a thread of the Go runtime may end long before the program does, unless a goroutine is locked to it.
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

// start gives the command a file for its output, not a pipe, so that no goroutine is needed to copy it.
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

// running reports whether the command has not ended. A nil process does not run.
func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// exitError describes how a command ended that was not meant to.
func (p *process) exitError() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// kill ends the command at once and waits for that.
func (p *process) kill() error {
	err := p.signal(os.Kill)
	if err == nil || errors.Is(err, os.ErrProcessDone) {
		<-p.done
		return nil
	}
	return err
}

// terminate asks the command to end and waits for that. After the grace period it kills it, and returns an error.
func (p *process) terminate(grace time.Duration) error {
	if runtime.GOOS == "windows" { // which cannot ask
		return p.kill()
	}
	_ = p.resume() // a stopped process does not see the signal until it continues
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

// signal returns os.ErrProcessDone when the command has ended or was never started.
func (p *process) signal(sig os.Signal) error {
	<-p.started
	if p.cmd.Process == nil {
		return os.ErrProcessDone
	}
	return p.cmd.Process.Signal(sig)
}
