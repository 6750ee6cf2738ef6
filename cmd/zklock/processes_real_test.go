//go:build real && linux

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The system kills what the session's end is about to leave behind.
func TestALossStopsTheProcessesBeforeOthersHoldTheLock(t *testing.T) {
	for name, script := range map[string]string{"the command": stubborn, "below a shell": nested} {
		t.Run(name, func(t *testing.T) {
			srv := startServer(t)
			l := newLife(t)
			p := startZklock(t, srv, "run", "--session-timeout", "20s", "--grace", "1", "/l", "--", "sh", "-c", script, l.path)
			require.Equal(t, "ready", l.line())

			c := curatortest.Connect(t, srv)
			granted := make(chan bool)
			go func() {
				lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(t.Context())
				if err == nil {
					granted <- l.over()
					lease.Release(t.Context())
				}
				close(granted)
			}()
			require.NoError(t, srv.WaitChildren(t.Context(), "/l", 2))
			require.True(t, zkinside.Of(srv).PauseSession(srv.Queue("/l")[0].Stat.EphemeralOwner))
			require.Equal(t, "TERM", l.line(), "TERM comes first")
			dead, ok := <-granted
			require.True(t, ok)
			require.True(t, dead, "the next holder was admitted while the command ran")
			p.finish(lost)
			require.Contains(t, p.stderr.String(), "zklock: lost /l: session lost")
		})
	}
}

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
var ends = map[string]func(t *testing.T, srv *zktest.Server, p *program, path string){
	"the node is deleted": func(t *testing.T, srv *zktest.Server, _ *program, path string) {
		require.NoError(t, srv.Delete(srv.Queue(path)[0].Path))
	},
	"TERM": func(t *testing.T, _ *zktest.Server, p *program, _ string) {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	},
	"its command ends": func(t *testing.T, _ *zktest.Server, p *program, _ string) {
		kill(t, onlyChild(t, onlyChild(t, p.cmd.Process.Pid)))
	},
	"kill -9": func(t *testing.T, _ *zktest.Server, p *program, _ string) {
		require.NoError(t, p.cmd.Process.Kill())
	},
	"kill -9 of the guard": func(t *testing.T, _ *zktest.Server, p *program, _ string) {
		kill(t, onlyChild(t, p.cmd.Process.Pid))
	},
}

// However a lock ends, nothing that descends from its command is there when
// another client holds it, and a release waits for that. If zklock is killed, all
// of it has ended before the session does, with which the lock is free. That is so
// with few descriptors, too.
func TestNoDescendantOutlivesTheLock(t *testing.T) {
	srv := startServer(t)
	run := func(t *testing.T, descent, end string, limit int) {
		t.Helper()
		script := descents[descent]
		if name := strings.Fields(strings.Trim(script, "("))[0]; name == "script" {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
		}
		l := newLife(t)
		file := filepath.Join(t.TempDir(), "work")
		require.NoError(t, os.WriteFile(file, []byte(work), 0o600))
		path := "/" + filepath.Base(t.Name())
		p := newZklock(t, srv, "run", "--session-timeout", "20s", "--grace", "0.1", path, "--", "sh", "-c", script, file, l.path)
		limited := []string{"/bin/sh", "-c", `ulimit -n "$0"; exec "$@"`, strconv.Itoa(limit), zklockPath}
		p.cmd.Path, p.cmd.Args = limited[0], append(limited, p.cmd.Args[1:]...)
		p.start()
		require.Equal(t, "working", l.line())
		ends[end](t, srv, p, path)
		switch end {
		case "the node is deleted":
			l.end() // others were let in at once
		case "kill -9":
			l.end()
			require.Len(t, srv.Children(path), 1, "work of the command has outlived the lock")
		default:
			lease, err := locks.NewInterProcessMutex(curatortest.Connect(t, srv), path).Acquire(t.Context())
			require.NoError(t, err)
			require.True(t, l.over(), "work of the command has outlived the lock")
			require.NoError(t, lease.Release(t.Context()))
		}
	}
	for descent := range descents {
		t.Run(descent, func(t *testing.T) { run(t, descent, "kill -9", 1024) })
	}
	for end := range ends {
		descent := "below a session"
		if end == "its command ends" { // a process in a new session has left by then
			descent = "timeout"
		}
		t.Run(end, func(t *testing.T) { run(t, descent, end, 1024) })
		t.Run(end+" with few descriptors", func(t *testing.T) { run(t, descent, end, 24) })
	}
}

// A command whose guard was killed is killed, too: nothing would end it when zklock
// dies. If zklock is killed with its guard, the system kills the command.
func TestAGuardThatIsKilledTakesTheCommandWithIt(t *testing.T) {
	srv := startServer(t)
	l := newLife(t)
	p := startZklock(t, srv, "run", "/l", "--", "sh", "-c", nested, l.path)
	require.Equal(t, "ready", l.line())
	kill(t, onlyChild(t, p.cmd.Process.Pid))
	l.end()
	p.finish(ownFailure)
	require.Equal(t, "zklock: /l: the guard was killed, and the command with it\n", p.stderr.String())
	require.Empty(t, srv.Children("/l"), "the lock was released")

	l = newLife(t)
	p = startZklock(t, srv, "run", "/l", "--", "sh", "-c", stubborn, l.path)
	require.Equal(t, "ready", l.line())
	guard := onlyChild(t, p.cmd.Process.Pid)
	for _, pid := range []int{guard, p.cmd.Process.Pid} {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	kill(t, p.cmd.Process.Pid)
	kill(t, guard)
	l.end()
}

// A zklock that dies after TERM leaves no second grace: somebody has waited
// already. So the command of a zklock under a zklock has one, too.
func TestADeathAfterTermLeavesNoSecondGrace(t *testing.T) {
	srv := startServer(t)
	long := []string{"run", "--session-timeout", "200s", "--grace", "90"}
	t.Run("one", func(t *testing.T) {
		l := newLife(t)
		p := startZklock(t, srv, append(long, "/l", "--", "sh", "-c", stubborn, l.path)...)
		require.Equal(t, "ready", l.line())
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		require.Equal(t, "TERM", l.line())
		require.NoError(t, p.cmd.Process.Kill())
		l.end()
	})
	t.Run("one under another", func(t *testing.T) {
		l := newLife(t)
		inner := strings.Join(append([]string{zklockPath}, long...), " ")
		p := startZklock(t, srv, "run", "--grace", "0.1", "/outer", "--", "sh", "-c",
			inner+` /inner -- sh -c '`+stubborn+`' "$0"; true`, l.path)
		require.Equal(t, "ready", l.line())
		require.NoError(t, srv.Delete(srv.Queue("/outer")[0].Path))
		l.end()
		p.finish(lost)
	})
}

// Nobody leaves once a signal was passed on that asks the command to end, also if
// zklock dies then.
func TestNobodyLeavesAfterASignal(t *testing.T) {
	srv := startServer(t)
	for sig, name := range map[syscall.Signal]string{
		syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGHUP: "HUP", syscall.SIGQUIT: "QUIT",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			file := filepath.Join(t.TempDir(), "work")
			require.NoError(t, os.WriteFile(file, []byte(work), 0o600))
			p := startZklock(t, srv, "run", "--grace", "0.1", "/"+name, "--", "sh", "-c",
				`trap 'setsid -f sh "$0" "$1"' `+name+`; echo ready; while :; do sleep 1 & wait $!; done`, file, l.path)
			require.Equal(t, "ready", p.line())
			require.NoError(t, p.cmd.Process.Signal(sig))
			require.Equal(t, "working", l.line())
			require.NoError(t, p.cmd.Process.Kill())
			l.end()
		})
	}
}

// childrenOf returns how many children a process has. Those that have ended and
// were not waited for count, too.
func childrenOf(t *testing.T, parent int) (n int) {
	for _, stat := range processes(t) {
		if stat[1] == strconv.Itoa(parent) {
			n++
		}
	}
	return n
}

// daemon is a script that says so, and goes on until its pipe is removed.
const daemon = `trap "" HUP; exec >"$0" 2>/dev/null </dev/null; echo daemon; while [ -p "$0" ]; do sleep 0.1; done`

// A command leaves a process in a new session, which ends while the next command runs.
// Only zklock can wait for the process.
func TestElectReapsOrphansOfEarlierCommands(t *testing.T) {
	srv := startServer(t)
	l := newLife(t)
	p := startZklock(t, srv, "elect", "--restart", "/el", "--", "sh", "-c",
		`if mkdir "$0.first"; then setsid -f sh -c '`+daemon+`' "$0"; fi 2>/dev/null
		echo leading; read x; exit 7`, l.path)
	require.Equal(t, "leading", p.line())
	require.Equal(t, "daemon", l.line())
	_, err := p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.Equal(t, "leading", p.line())
	require.Contains(t, p.stderr.String(), "queueing again: the command has ended with status 7")
	require.False(t, l.over(), "the daemon has left the command")
	require.NoError(t, os.Remove(l.path))
	l.end()
	for ; childrenOf(t, p.cmd.Process.Pid) > 1; betweenLooks() { // a guard is one
	}
	require.NoError(t, p.cmd.Process.Kill())
}

// A command leaves work behind by a process in a new session whose parent has ended. A
// daemon that forks twice reports that it runs after the first fork, which leads its
// session, was reaped.
func TestADaemonOutlivesTheLock(t *testing.T) {
	srv := startServer(t)
	for name, start := range map[string]string{
		"that leads its session": `setsid -f sh -c "$1" "$0"`,
		"that has forked twice":  `(setsid sh -c '(sh -c "while [ -d /proc/$$ ]; do sleep 0.01; done; $1" "$0" &)' "$0" "$1" &)`,
		"at the very end":        `read x; exec setsid -f sh -c "$1" "$0"`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			path := "/" + strconv.Itoa(len(name))
			p := startZklock(t, srv, "run", "--grace", "0.1", path, "--", "sh", "-c", start+`; read x; exit 3`, l.path, daemon)
			if name == "at the very end" {
				require.NoError(t, p.stdin.Close())
			}
			require.Equal(t, "daemon", l.line())
			status, _ := p.wait()
			require.Contains(t, []int{0, 3}, status)
			require.Empty(t, srv.Children(path), "the lock was released")
			require.False(t, l.over(), "the daemon has left the command")
		})
	}
}

// The command has the terminal, and an election leaves it to zklock, until its
// command wants to read. A program that the system cannot run gives it back.
func TestTheCommandHasTheTerminal(t *testing.T) {
	srv := startServer(t)
	y := startOnTerminal(t, srv, zklockPath, "run", "/l", "--", "sh", "-c",
		`trap 'echo interrupted; exit 8' INT; echo ready; read x; echo "got $x"; while :; do sleep 1 & wait $!; done`)
	y.see("ready")
	goOn := holdUpRelease(t, srv, srv.Queue("/l")[0].Path)
	y.keys("hello\n")
	y.see("got hello")
	y.keys(ctrlC)
	y.see("interrupted")
	goOn()
	require.ErrorContains(t, y.cmd.Wait(), "exit status 8")

	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("\x7fELF\x00"), 0o700))
	y = startOnTerminal(t, srv, "sh", "-c", `"$ZKLOCK" run /l "$0"; echo "status $?"; read x; echo "got $x"; read x`, script)
	y.see("status 126")
	y.keys("hello\n")
	y.see("got hello")
	y.keys("\n")
	require.NoError(t, y.cmd.Wait())

	for script, status := range map[string]int{
		`trap "echo interrupted; exit 3" INT; echo lead""ing; while :; do sleep 1 & wait $!; done`: 3,
		`echo lead""ing; read x; echo got $x; read x`:                                              128 + int(syscall.SIGINT),
	} {
		y := startShell(t, srv)
		y.keys(`"$ZKLOCK" elect --restart /` + strconv.Itoa(status) + ` -- sh -c '` + script + `'` + "\n")
		y.see("leading")
		if status != 3 {
			y.keys("it\n")
			y.see("got it")
		}
		y.keys(ctrlC) // it ends the election, and does not restart the command
		y.see("prompt")
		y.keys("echo status $?.\n")
		y.see("status " + strconv.Itoa(status) + ".")
	}
}

// A shell with job control starts zklock in the background, where its command wants
// to read. It gets the terminal once zklock is in the foreground. Ctrl-Z has no
// effect, neither while the command has the terminal nor while zklock waits.
func TestCtrlZStopsNothing(t *testing.T) {
	srv := startServer(t)
	y := startShell(t, srv)
	y.keys(`"$ZKLOCK" run /l -- sh -c 'echo read""y; read x; echo "got <$x>"; read x; echo "then <$x>"; exit 5' &` + "\n")
	y.see("ready")
	require.Len(t, srv.Children("/l"), 1)
	y.keys("fg\n")
	y.see("exit 5'") // the shell repeats the command line
	y.keys("one\n")
	y.see("got <one>")
	y.keys(ctrlZ)
	y.keys("two\n")
	y.see("then <two>")
	y.see("prompt")
	y.keys("echo status $?.\n")
	y.see("status 5.")

	require.NoError(t, srv.Create("/held", nil))
	require.NoError(t, srv.Create("/held/lock-0000000000", nil))
	y.keys(`"$ZKLOCK" run /held -- sh -c 'echo run""ning'` + "\n")
	require.NoError(t, srv.WaitChildren(t.Context(), "/held", 2))
	y.keys(ctrlZ)
	require.NoError(t, srv.Delete("/held/lock-0000000000"))
	y.see("running")
}

// What a shell has passed on is where the command looks for it: below make, those
// are the descriptors of its job server. The guards' own are not among them.
func TestTheCommandHasTheDescriptorsOfTheCaller(t *testing.T) {
	srv := startServer(t)
	p := newZklock(t, srv, "run", "/l", "--", "sh", "-c", `
		for n in 3 4 5 6 7 8 9; do (eval ": <&$n") 2>/dev/null && echo "$n is open"; done
		echo "$ZKLOCK_FD is new"
		read x; echo "read $x"; echo "said" >&2
		for n in 3 4 6 9 40; do test -f /dev/fd/$n && cat /dev/fd/$n; done`)
	p.cmd.ExtraFiles = make([]*os.File, 38)
	for _, n := range []int{3, 4, 6, 9, 40} {
		name := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(name, []byte(strconv.Itoa(n)+"\n"), 0o600))
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		p.cmd.ExtraFiles[n-3] = f
	}
	out := &text{}
	p.cmd.Stdout, p.cmd.Stderr = out, p.stderr
	p.start()
	_, err := io.WriteString(p.stdin, "hello\n")
	require.NoError(t, err)
	p.finish(0)
	require.Equal(t, "said\n", p.stderr.String())
	require.Equal(t, "3 is open\n4 is open\n5 is open\n6 is open\n9 is open\n5 is new\nread hello\n3\n4\n6\n9\n40\n", out.String())
}

// count has eight shells that add 1 to a number in a file, under a lock that alone
// keeps them apart. Each shell counts the given number of times.
func count(t *testing.T, srv addr, path string, each int) {
	file := filepath.Join(t.TempDir(), "counter")
	require.NoError(t, os.WriteFile(file, []byte("0\n"), 0o600))
	script := `i=0; while [ $i -lt ` + strconv.Itoa(each) + ` ]; do
		"$0" run -w 120 "$1" -- sh -c 'read n <"$0"; echo $((n + 1)) >"$0"' "$2" || exit 1
		i=$((i + 1)); done`
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cmd := exec.Command("sh", "-c", script, zklockPath, path, file)
			cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(8*each), strings.TrimSpace(string(got)))
}

func TestACounterUnderTheLockIsExactOnARealServer(t *testing.T) {
	count(t, zkserver.Shared(t), "/counter-"+strconv.Itoa(os.Getpid()), 10)
}
