package child

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// identity distinguishes a process from a later process with the same id.
type identity struct {
	pid   int
	start uint64 // the start of the process, in ticks since the system's start
}

// process is the system's information about a process.
type process struct {
	identity
	parent, group, session int
	dead                   bool // the process has ended and was not reaped
	stopped                bool // a signal or a debugger has stopped the process
}

// procfs is the path of the proc file system.
type procfs string

const theProcfs procfs = "/proc"

// all returns all processes, by their ids, read one by one. The result is incomplete if
// a process cannot be read, for example for lack of file descriptors. all omits
// processes that this program may not see; see hides.
func (root procfs) all() (all map[int]process, complete bool) {
	all = map[int]process{}
	dir, err := os.Open(string(root))
	if err != nil {
		return all, false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	complete = err == nil
	read := func(pid int) {
		switch p, err := root.read(pid); {
		case err == nil:
			all[pid] = p
		case !isUnseen(err):
			complete = false
		}
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			read(pid)
		}
	}
	// If a parent has ended meanwhile, another process has adopted the child.
	for pid := range all {
		for range 3 {
			parent := all[pid].parent
			if _, ok := all[parent]; ok || parent == 0 {
				break
			}
			read(pid)
		}
	}
	return all, complete
}

// isUnseen reports whether an error means that a process has ended, or that this
// program may not see the process.
func isUnseen(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ESRCH)
}

// read reads the information about a process.
func (root procfs) read(pid int) (process, error) {
	stat, err := os.ReadFile(string(root) + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	p, ok := parseStat(pid, stat)
	if !ok {
		return process{}, syscall.EIO
	}
	return p, nil
}

// hides reports whether a process has, or may have, children that were not read. A proc
// file system that is mounted with hidepid hides processes of other users. Lists of
// children exist since Linux 4.2.
func (root procfs) hides(all map[int]process, parent int) bool {
	tasks := filepath.Join(string(root), strconv.Itoa(parent), "task")
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return !isUnseen(err)
	}
	for _, thread := range threads {
		list, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		if err != nil && !isUnseen(err) {
			return true
		}
		for _, child := range strings.Fields(string(list)) {
			pid, err := strconv.Atoi(child)
			if _, ok := all[pid]; err == nil && !ok {
				return true
			}
		}
	}
	return false
}

// readProcess reads the information about a process, if possible.
func readProcess(pid int) (process, bool) {
	p, err := theProcfs.read(pid)
	return p, err == nil
}

// startOf returns when a process began, in ticks from the system's start.
func startOf(pid int) (uint64, error) {
	p, err := theProcfs.read(pid)
	return p.start, err
}

// executable returns the path of this program's own file, even if another file has
// replaced it.
func executable() (string, error) { return "/proc/self/exe", nil }

// dieWithParent makes the system kill a process when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// endOf returns a function that waits until a process has ended. That function returns
// an error if the system cannot wait for the end, as on Linux before 5.3.
func endOf(pid int) (await func() error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return func() error { return err }
	}
	return func() error {
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	}
}

// isStopped reports whether a process is stopped.
func isStopped(pid int) bool {
	p, ok := readProcess(pid)
	return ok && p.stopped
}

// parseStat parses the line of a process; see proc(5). Only the name of the program, in
// parentheses, can contain spaces.
func parseStat(pid int, stat []byte) (p process, ok bool) {
	const state, parent, group, session, threads, start = 0, 1, 2, 3, 17, 19
	_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	f := strings.Fields(string(rest))
	if len(f) <= start {
		return p, false
	}
	p.pid = pid
	p.parent, _ = strconv.Atoi(f[parent])
	p.group, _ = strconv.Atoi(f[group])
	p.session, _ = strconv.Atoi(f[session])
	p.start, _ = strconv.ParseUint(f[start], 10, 64)
	// The first thread can end before other threads.
	p.stopped = f[state] == "T" || f[state] == "t"
	p.dead = f[state] == "Z" && (f[threads] == "1" || f[threads] == "0") || f[state] == "X"
	return p, true
}

// signal sends signals to the process, but not to a later process with the same id. It
// returns the first error.
func (p process) signal(sigs ...syscall.Signal) (failure error) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if now, ok := readProcess(p.pid); !ok || now.identity != p.identity {
		return nil
	}
	for _, sig := range sigs {
		if err == nil {
			failure = cmp.Or(failure, unix.PidfdSendSignal(fd, sig, nil, 0))
		} else { // an older kernel, or no descriptor is free
			failure = cmp.Or(failure, syscall.Kill(p.pid, sig))
		}
	}
	return failure
}
