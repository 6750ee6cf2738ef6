package child

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// identity is that of a process, also when another one has got its id.
type identity struct {
	pid   int
	start uint64 // in ticks since the system's start
}

// process is what the system tells of a process.
type process struct {
	identity
	parent, group, session int
	dead                   bool // but not waited for
}

// readProcesses returns all processes, by their ids. They are read one by one.
func readProcesses() map[int]process {
	all := map[int]process{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				all[pid] = p
			}
		}
	}
	// Where a parent has ended meanwhile, the process was adopted.
	for pid, p := range all {
		for range 3 {
			if _, ok := all[p.parent]; ok || p.parent == 0 {
				break
			}
			if p, ok := readProcess(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// readProcess reads /proc/PID/stat.
func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, stat)
}

// parseStat understands the line of a process; see proc(5). Only the name of
// the program, in brackets, can have spaces in it.
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
	// The first thread can end before others.
	p.dead = f[state] == "Z" && (f[threads] == "1" || f[threads] == "0") || f[state] == "X"
	return p, true
}

// signal sends signals to the process, and to no other that has got its id.
func (p process) signal(sigs ...syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if now, ok := readProcess(p.pid); !ok || now.identity != p.identity {
		return
	}
	for _, sig := range sigs {
		if err == nil {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		} else {
			_ = syscall.Kill(p.pid, sig) // an older kernel
		}
	}
}
