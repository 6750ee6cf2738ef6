//go:build unix

package child

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawn starts a program. The first three files become its first three descriptors, and
// the other files get free numbers; see arrange.
func spawn(path string, args, env []string, files []*os.File, sys *syscall.SysProcAttr) (pid int, err error) {
	table, _, err := arrange(files)
	if err != nil {
		return 0, err
	}
	pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{Env: env, Files: table, Sys: sys})
	runtime.KeepAlive(files)
	if err != nil {
		return 0, &os.PathError{Op: "exec", Path: path, Err: err}
	}
	return pid, nil
}

// arrange returns the descriptors of a child: the first three files, the descriptors
// that this program has inherited, at the same numbers, and the further files at the
// lowest free numbers, which arrange returns, too. The numbers of inherited descriptors
// must not change, because the child knows a descriptor by its number.
//
// A child passes the same descriptors on to its own children, so the same numbers are
// free there.
func arrange(files []*os.File) (table []uintptr, numbers []int, err error) {
	const closed = ^uintptr(0)
	passed, end := passedOn()
	further := files[3:]
	for fd := 0; fd < end || len(further) > 0; fd++ {
		switch {
		case fd == maxPassed:
			return nil, nil, syscall.EMFILE
		case fd < 3:
			table = append(table, files[fd].Fd())
		case passed[fd]:
			table = append(table, uintptr(fd))
		case len(further) > 0:
			table, further = append(table, further[0].Fd()), further[1:]
			numbers = append(numbers, fd)
		default:
			table = append(table, closed)
		}
	}
	return table, numbers, nil
}

// maxPassed bounds the numbers of the descriptors that are examined. The system passes
// higher ones on, and this program uses none of them.
const maxPassed = 1024

// passedOn returns which descriptors above the first three this program has inherited,
// and the end of their range. Descriptors that this program has opened itself are
// closed at an exec.
func passedOn() (passed [maxPassed]bool, end int) {
	syscall.ForkLock.Lock() // some systems mark a new descriptor a moment later
	defer syscall.ForkLock.Unlock()
	end = 3
	for fd := range highest() {
		if fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			passed[fd], end = true, fd+1
		}
	}
	return passed, end
}

// highest returns the first number that is not examined. A caller can pass on a
// descriptor and then lower the limit below its number. A child inherits that
// descriptor, but nothing can be duplicated to its number.
func highest() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxPassed
	}
	return int(min(maxPassed, uint64(limit.Cur))) //nolint:unconvert // signed on some systems
}

// FirstFile returns the descriptor that the first of the Files of a Command gets.
func FirstFile() int {
	passed, _ := passedOn()
	for fd := 3; fd < maxPassed; fd++ {
		if !passed[fd] {
			return fd
		}
	}
	return 0
}

// takeFiles returns the files of a guard, whose descriptors are listed in an argument.
// The guard does not treat these descriptors as inherited.
func takeFiles(argument string) (files []*os.File, err error) {
	for number := range strings.SplitSeq(argument, ",") {
		fd, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		syscall.CloseOnExec(fd)
		files = append(files, os.NewFile(uintptr(fd), ""))
	}
	return files, nil
}

// asArgument is what takeFiles reads.
func asArgument(descriptors []int) string {
	texts := make([]string, len(descriptors))
	for i, fd := range descriptors {
		texts[i] = strconv.Itoa(fd)
	}
	return strings.Join(texts, ",")
}
