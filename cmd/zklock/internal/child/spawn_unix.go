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

// spawn starts a program. Its first three descriptors are the first files, and
// the others get numbers that are free; see arrange.
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

// arrange returns the descriptors of a child: the first three files, what the
// caller of this program has passed on to it, each where it is, and the further
// files at the lowest numbers that are free then, which it returns, too. A shell
// knows what it has passed on by the number.
//
// Each child and its children pass on the same descriptors, so that the same
// numbers are free.
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

// maxPassed bounds the numbers of the descriptors that are looked at. Those above
// are passed on by the system, and nobody here takes one of them.
const maxPassed = 1024

// passedOn returns which descriptors above the first three the caller of this
// program has passed on to it, and where they end. Those that this program has
// opened are closed at an exec.
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

// highest returns the number from which on no descriptor is looked at. A caller can
// pass on a descriptor and lower the limit below its number afterwards. A child
// inherits that descriptor, but nothing can be duplicated to its number.
func highest() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxPassed
	}
	return int(min(maxPassed, uint64(limit.Cur))) //nolint:unconvert // elsewhere it is signed
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

// takeFiles returns the files of a guard, whose descriptors are an argument of
// it. They are not passed on as what the caller has passed on.
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
