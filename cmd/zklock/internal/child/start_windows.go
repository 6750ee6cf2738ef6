package child

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
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
		Sys: &syscall.SysProcAttr{
			CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
		},
	})
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{}), refused: make(chan int, 1)}
	p.pid, p.job = uint32(proc.Pid), job
	err = p.assign()
	if err == nil {
		err = resumeThreads(p.pid)
	}
	if err != nil {
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

// assign puts the command into the job. It has not run before that, so that all
// that it starts is in the job, too.
func (p *Process) assign() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, p.pid)
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(p.job, h))
}

// resumeThreads lets a process run that was created suspended.
func resumeThreads(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return os.NewSyscallError("CreateToolhelp32Snapshot", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	resumed := false
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		if err := resumeThread(entry.ThreadID); err != nil {
			return err
		}
		resumed = true
	}
	if !resumed {
		return os.NewSyscallError("Thread32Next", err)
	}
	return nil
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return os.NewSyscallError("OpenThread", err)
	}
	defer windows.CloseHandle(thread)
	_, err = windows.ResumeThread(thread)
	return os.NewSyscallError("ResumeThread", err)
}

// jobPoll is how often to look whether a job has ended.
const jobPoll = 10 * time.Millisecond

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_               [4]int64 // times
	_               [2]uint32
	ActiveProcesses uint32
	_               uint32
}

// endJob ends what is left in the job, and returns when it has ended. A job that
// cannot be asked ends with its handle, as far as anybody knows.
func (p *Process) endJob() {
	for {
		_ = windows.TerminateJobObject(p.job, 1)
		var info accounting
		err := windows.QueryInformationJobObject(p.job, windows.JobObjectBasicAccountingInformation,
			uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
		if err != nil || info.ActiveProcesses == 0 {
			return
		}
		time.Sleep(jobPoll)
	}
}

// wait owns the command until nothing of it is left.
func (p *Process) wait(proc *os.Process) {
	p.status = 255
	if state, err := proc.Wait(); err == nil {
		p.status = state.ExitCode()
	}
	close(p.exited)
	p.endJob()
	p.mu.Lock()
	p.mu.closed = true
	_ = windows.CloseHandle(p.job)
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

// BeginGrace does nothing: nobody leaves a job, and there are no guards.
func (p *Process) BeginGrace() {}

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
