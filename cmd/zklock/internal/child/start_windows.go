package child

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Forwarded are the signals that a program passes on to its child. Windows has
// only Ctrl-C and Ctrl-Break.
var Forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// system is the part of a Process that differs from system to system.
type system struct {
	pid uint32
	job windows.Handle

	mu struct {
		sync.Mutex
		closed bool // the job's handle
	}
}

// RunHelper does nothing: job objects need no helpers.
func RunHelper() {}

// Start starts a command. The error matches fs.ErrNotExist or exec.ErrNotFound
// if there is no such program. The caller reads Gone, after Kill if need be.
func Start(c Command) (*Process, error) {
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	if err := c.Ready(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	proc, err := os.StartProcess(path, c.Args, &os.ProcAttr{
		Env:   c.Env,
		Files: []*os.File{c.Stdin, c.Stdout, c.Stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	p.pid, p.job = uint32(proc.Pid), job
	if err := p.assign(); err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	go p.wait(proc)
	return p, nil
}

// newJob returns a job object whose processes die with its last handle, which
// is this program's.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// assign puts the command into the job. Processes that it has started before
// that are not in it.
func (p *Process) assign() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, p.pid)
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(p.job, h))
}

// wait owns the command until nothing of it is left.
func (p *Process) wait(proc *os.Process) {
	p.status = 255
	if state, err := proc.Wait(); err == nil {
		p.status = state.ExitCode()
	}
	close(p.exited)
	p.mu.Lock()
	p.mu.closed = true
	_ = windows.CloseHandle(p.job) // ends what the command has left behind
	p.mu.Unlock()
	close(p.gone)
}

// Signal sends Ctrl-Break to the command and its group, whatever the signal.
func (p *Process) Signal(os.Signal) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, p.pid)
}

// IsStopped returns false: Windows does not stop jobs.
func (p *Process) IsStopped() bool { return false }

// Terminate asks the command and its group to end.
func (p *Process) Terminate() { p.Signal(syscall.SIGTERM) }

// Kill ends the command, and all in its job, at once.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.closed {
		_ = windows.TerminateJobObject(p.job, 1)
	}
}

// PID returns the id of the command.
func (p *Process) PID() int { return int(p.pid) }

// PassesFiles says that a Command cannot have Files.
const PassesFiles = false

// FirstFile returns 0: there are no Files.
func FirstFile() int { return 0 }
