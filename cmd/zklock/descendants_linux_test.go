package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// work is a script that does not end at TERM, nor when its terminal hangs up. It
// says that it begins, and ends when its pipe is removed.
const work = `trap "" HUP; exec >"$1" 2>/dev/null </dev/null; trap "echo TERM" TERM
echo working; while [ -p "$1" ]; do sleep 1 & wait $!; done`

// descents are ways in which work can descend from a command without being in
// its process group. "$0" is the work and "$1" its pipe.
var descents = map[string]string{
	"timeout":             `timeout 60 sh "$0" "$1"; true`,
	"jobs":                `set -m; sh "$0" "$1"; true`,
	"an orphan of jobs":   `(set -m; sh "$0" "$1" &); read x`,
	"script":              `script -qc "sh '$0' '$1'" /dev/null; true`,
	"an orphan in script": `(script -qc "trap '' HUP; sh '$0' '$1' & sleep 0.5" /dev/null >/dev/null); read x`,
	"a session":           `setsid -w sh "$0" "$1"; true`,
	"below a session":     `setsid -w sh -c '(sh "$0" "$1" &); read x' "$0" "$1"; true`,
}

// ends are ways in which a lock can end, or its zklock.
var ends = map[string]func(t *testing.T, srv *zktest.Server, p *process, path string){
	"the node is deleted": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		require.NoError(t, srv.Delete(srv.Queue(path)[0].Path))
	},
	"the session is over": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		require.True(t, srv.Session(srv.Queue(path)[0].Stat.EphemeralOwner).Expire())
	},
	"TERM": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	},
	"it is revoked": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		zklock(t, srv, 0, "revoke", path)
	},
	"kill -9": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		require.NoError(t, p.cmd.Process.Kill())
	},
	"kill -9 of a guard, too": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		kill(t, onlyChild(t, p.cmd.Process.Pid))
		require.NoError(t, p.cmd.Process.Kill())
	},
	"kill -9 of the other guard, too": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP)) // it does not act on the guard's end
		kill(t, onlyChild(t, onlyChild(t, p.cmd.Process.Pid)))
		require.NoError(t, p.cmd.Process.Kill())
	},
	"kill -9 of a guard": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		kill(t, onlyChild(t, onlyChild(t, p.cmd.Process.Pid)))
	},
	"a guard is stopped, and kill -9": func(t *testing.T, srv *zktest.Server, p *process, path string) {
		outer := onlyChild(t, p.cmd.Process.Pid)
		inner := onlyChild(t, outer)
		killInTheEnd(t, outer, inner)
		require.NoError(t, syscall.Kill(inner, syscall.SIGSTOP))
		require.NoError(t, p.cmd.Process.Kill())
	},
}

// However a lock ends, nothing that descends from its command is there when
// somebody else holds it, and a release waits for that. If zklock is killed, it
// has ended before the session does, with which the lock is free.
func TestNoDescendantOutlivesTheLock(t *testing.T) {
	srv := startServer(t)
	for descent, script := range descents {
		for name, end := range ends {
			if !thorough.Picked(6, descent, name) {
				continue
			}
			t.Run(descent+", "+name, func(t *testing.T) {
				if program := strings.Fields(script)[0]; program == "script" {
					if _, err := exec.LookPath(program); err != nil {
						t.Skip(err)
					}
				}
				t.Parallel()
				l := newLife(t)
				file := filepath.Join(t.TempDir(), "work")
				require.NoError(t, os.WriteFile(file, []byte(work), 0o600))
				path := "/" + filepath.Base(t.Name())
				p := startProcess(t, srv, "run", "--session-timeout", "20s", "--grace", "0.1", path, "--", "sh", "-c", script, file, l.path)
				require.Equal(t, "working", l.line())
				end(t, srv, p, path)
				switch name {
				case "the node is deleted", "the session is over":
					l.end() // others were let in at once
				case "TERM", "it is revoked", "kill -9 of a guard":
					lease, err := locks.NewInterProcessMutex(curatortest.Connect(t, srv), path).Acquire(bounded(t))
					require.NoError(t, err)
					require.True(t, l.over(), "work of the command has outlived the lock")
					require.NoError(t, lease.Release(bounded(t)))
				default:
					l.end()
					require.Len(t, srv.Children(path), 1, "work of the command has outlived the lock")
				}
			})
		}
	}
}

// What the command leaves behind in the background is ended, too.
func TestNoDescendantIsLeftInTheBackground(t *testing.T) {
	srv := startServer(t)
	for descent, script := range descents {
		t.Run(descent, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			file := filepath.Join(t.TempDir(), "work")
			require.NoError(t, os.WriteFile(file, []byte(work), 0o600))
			path := "/" + filepath.Base(t.Name())
			p := startProcess(t, srv, "run", "--grace", "0.1", path, "--", "sh", "-c",
				`sh -c "$2" "$0" "$1" & exec <"$3"; read x; exit 3`, file, l.path, script, "/dev/stdin")
			require.Equal(t, "working", l.line())
			p.finish(3)
			require.True(t, l.over(), "work of the command has outlived the lock")
		})
	}
}

func kill(t *testing.T, pid int) { require.NoError(t, syscall.Kill(pid, syscall.SIGKILL)) }

// killInTheEnd kills these processes when the test has ended, if they are there.
func killInTheEnd(t *testing.T, pids ...int) {
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0) // the id may be that of another by then
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0)
			require.NoError(t, unix.Close(fd))
		})
	}
}

// onlyChild returns the only child of a process.
func onlyChild(t *testing.T, parent int) (pid int) {
	for id, stat := range processes(t) {
		if stat[1] == strconv.Itoa(parent) {
			require.Zero(t, pid, "there are two")
			pid = id
		}
	}
	require.NotZero(t, pid)
	return pid
}

// betweenLooks is the pause between two calls of processes. The system does not
// tell a test that a process has stopped, or was reaped, if that is not its child:
// a pidfd tells of its end alone. So the test has to look again and again, and in
// real time, as these are real processes. Without a pause it would take a whole
// processor from those that it waits for.
func betweenLooks() { time.Sleep(50 * time.Millisecond) }

// processes returns what the system tells of all processes; see proc(5). The
// fields begin with the third one.
func processes(t *testing.T) map[int][]string {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[int][]string{}
	for _, name := range files {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it is gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(stat), ") ")
		all[pid] = strings.Fields(rest)
	}
	return all
}
