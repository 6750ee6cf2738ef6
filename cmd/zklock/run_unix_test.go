//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestTheStatusIsThatOfTheCommand(t *testing.T) {
	srv := startServer(t)
	script, object := filepath.Join(t.TempDir(), "script"), filepath.Join(t.TempDir(), "object")
	require.NoError(t, os.WriteFile(script, []byte(`exit "$1"`), 0o700))
	require.NoError(t, os.WriteFile(object, []byte("\x7fELF\x00"), 0o700))
	for name, tc := range map[string]struct {
		status int
		args   []string
	}{
		"success":        {0, []string{"true"}},
		"its own":        {7, []string{"sh", "-c", "exit 7"}},
		"of zklock, too": {lost, []string{"sh", "-c", "exit 76"}},
		"a signal":       {128 + 9, []string{"sh", "-c", "kill -9 $$"}},
		"not found":      {notFound, []string{"no-such-program"}},
		"no such file":   {notFound, []string{"/no/such/program"}},
		"not executable": {notExecuted, []string{"/etc/passwd"}},
		"a directory":    {notExecuted, []string{"/etc"}},
		"no #!":          {5, []string{script, "5"}},
		"no program":     {notExecuted, []string{object}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/status/" + strconv.Itoa(tc.status) + strings.ReplaceAll(name, " ", "-")
			zklock(t, srv, tc.status, append([]string{"run", path, "--"}, tc.args...)...)
			require.Empty(t, srv.Children(path), "the lock was released")
		})
	}
}

// With -v, a line says when the lock was acquired.
func TestTheGrantIsTold(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	for _, args := range [][]string{{"run", "/l", "true"}, {"elect", "/l", "true"}, {"run", "--hold", "/l"}} {
		p := startProcess(t, srv, append([]string{"-v"}, args...)...)
		if args[1] == "--hold" {
			require.Contains(t, p.line(), "holding")
		}
		p.finish(0)
		require.Regexp(t, `(?m)^zklock: acquired /l at \d{4}-\d\d-\d\dT\S+, with token \d+$`, p.stderr.String(), args)
	}
}

func TestStandardInputAndOutputArePassedOn(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "run", "/l", "--", "sh", "-c", `read x; echo "out $x"; read y; echo "err $y" >&2`)
	_, err := p.stdin.Write([]byte("one\n"))
	require.NoError(t, err)
	require.Equal(t, "out one", p.line(), "at once, not in the end")
	_, err = p.stdin.Write([]byte("two\n"))
	require.NoError(t, err)
	p.finish(0)
	require.Equal(t, "err two\n", p.stderr.String())
}

// What a shell has passed on is where the command looks for it: below make, those
// are the descriptors of its job server. The guards' own are not among them.
func TestTheCommandHasTheDescriptorsOfTheCaller(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := newProcess(t, srv, "run", "/l", "--", "sh", "-c", `
		for n in 3 4 5 6 7 8 9; do (eval ": <&$n") 2>/dev/null && echo "$n is open"; done
		echo "$ZKLOCK_FD is new"
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
	out := &safeBuffer{}
	p.cmd.Stdout, p.cmd.Stderr = out, p.stderr
	p.start()
	p.finish(0)
	require.Equal(t, "3 is open\n4 is open\n5 is open\n6 is open\n9 is open\n5 is new\n3\n4\n6\n9\n40\n", out.String())
}

func TestTheCommandKnowsItsLock(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "run", "/l", "sh", "-c",
		`echo "$0"; echo $ZKLOCK_PATH; echo $ZKLOCK_NODE; echo $ZKLOCK_TOKEN; echo $ZKLOCK_SESSION; read x`, "t={token},{token}")
	first, path, node, token, session := p.line(), p.line(), p.line(), p.line(), p.line()
	queue := srv.Queue("/l")
	require.Len(t, queue, 1)
	czxid := strconv.FormatInt(queue[0].Stat.Czxid, 10)
	require.Equal(t, "t="+czxid+","+czxid, first)
	require.Equal(t, []string{"/l", queue[0].Path, czxid}, []string{path, node, token})
	require.Equal(t, "0x"+strconv.FormatInt(queue[0].Stat.EphemeralOwner, 16), session)
	p.finish(1) // read has met the end
}

func TestLossOfTheLockStopsTheCommandBeforeOthersHoldIt(t *testing.T) {
	thorough.LongWait(t)
	t.Parallel()
	for name, script := range map[string]string{"the command": stubborn, "below a shell": nested} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			l := newLife(t)
			l.patience *= 2 // TERM comes after 54 s
			// A margin of six seconds, and a KILL four seconds before others can hold the
			// lock: that is for a busy machine, and so is the time for an answer to TERM.
			p := startProcess(t, srv, "run", "--session-timeout", "1m", "--grace", "2", "/l", "--", "sh", "-c", script, l.path)
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
			require.NoError(t, srv.WaitChildren(bounded(t), "/l", 2))
			require.True(t, srv.Session(srv.Queue("/l")[0].Stat.EphemeralOwner).Pause())
			require.Equal(t, "TERM", l.line(), "TERM comes first")
			dead, ok := <-granted
			require.True(t, ok)
			require.True(t, dead, "the next holder was admitted while the command ran")
			p.finish(lost)
			require.Contains(t, p.stderr.String(), "zklock: lost /l: session lost")
		})
	}
}

func TestACommandThatEndsAtTermIsNotKilled(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--session-timeout", "20s", "--grace", "9", "/l", "--", "sh", "-c",
		`exec >"$0"; trap 'echo tidied up; exit 5' TERM; echo ready; while :; do sleep 1 & wait $!; done`, l.path)
	require.Equal(t, "ready", l.line())
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	require.Equal(t, "tidied up", l.line())
	l.end()
	p.finish(lost)
	require.Contains(t, p.stderr.String(), "zklock: lost /l: lock node deleted")
}

func TestTheLossFileEndsAtTheLoss(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--session-timeout", "20s", "--grace", "9", "/l", "--", "sh", "-c",
		`exec >"$0"; trap "" TERM; echo ready; eval "cat <&$ZKLOCK_FD"; echo lost`, l.path)
	require.Equal(t, "ready", l.line())
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	require.Equal(t, "lost", l.line())
	p.finish(lost)
}

func TestOnLostRunsACommandInPlaceOfTerm(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--session-timeout", "20s", "--grace", "9", "--on-lost",
		"exec=echo hook $ZKLOCK_PATH ${ZKLOCK_FD-without a descriptor}; kill -USR1 $ZKLOCK_PID", "/l", "--", "sh", "-c",
		`exec >"$0"; trap 'echo TERM' TERM; trap 'echo USR1; exit' USR1; echo ready; while :; do sleep 1 & wait $!; done`, l.path)
	require.Equal(t, "ready", l.line())
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	require.Equal(t, "USR1", l.line())
	require.Equal(t, "hook /l without a descriptor\n", p.finish(lost))
}

func TestAZklockThatIsKilledLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--grace", "0.1", "/l", "--", "sh", "-c", nested, l.path)
	require.Equal(t, "ready", l.line())
	require.NoError(t, p.cmd.Process.Kill())
	l.end() // although the processes ignore TERM, and a shell is in between
	require.Len(t, srv.Children("/l"), 1, "the lock was held meanwhile: nobody has released it")
}

func TestNothingOfTheCommandOutlivesTheLock(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--grace", "0.1", "/l", "--", "sh", "-c",
		`sh -c '`+stubborn+`' "$0" & read x; exit 3`, l.path)
	require.Equal(t, "ready", l.line())
	require.NoError(t, p.stdin.Close())
	lease, err := locks.NewInterProcessMutex(curatortest.Connect(t, srv), "/l").Acquire(bounded(t))
	require.NoError(t, err)
	require.True(t, l.over(), "a process in the background has outlived the lock")
	require.NoError(t, lease.Release(bounded(t)))
	p.finish(3)
}

func TestSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "run", "/l", "--", "sh", "-c",
		`for s in INT TERM HUP QUIT USR1; do trap "echo $s" $s; done; trap "echo USR2; exit 9" USR2
		echo ready; while :; do sleep 1 & wait $!; done`)
	require.Equal(t, "ready", p.line())
	for _, s := range []struct {
		sig  syscall.Signal
		name string
	}{
		{syscall.SIGINT, "INT"}, {syscall.SIGTERM, "TERM"}, {syscall.SIGHUP, "HUP"},
		{syscall.SIGQUIT, "QUIT"}, {syscall.SIGUSR1, "USR1"}, {syscall.SIGUSR2, "USR2"},
	} {
		require.NoError(t, p.cmd.Process.Signal(s.sig))
		require.Equal(t, s.name, p.line())
	}
	p.finish(9)
}

func TestAStopWhileWaitingStartsNothing(t *testing.T) {
	srv := startServer(t)
	for _, sig := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	} {
		for _, command := range []string{"run", "elect"} {
			t.Run(command+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				path := "/" + command + strconv.Itoa(int(sig))
				_, release := hold(t, srv, path) // a LeaderSelector's queue is that of a mutex
				p := startProcess(t, srv, command, path, "--", "echo", "started")
				require.NoError(t, srv.WaitChildren(bounded(t), path, 2))
				require.NoError(t, p.cmd.Process.Signal(sig))
				require.Empty(t, p.finish(128+int(sig)))
				require.NoError(t, srv.WaitChildren(bounded(t), path, 1), "it has left the queue")
				release()
			})
		}
	}
}

func TestARevocationAsksTheCommandToEnd(t *testing.T) {
	for _, command := range []string{"run", "elect"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			// The grace is over at once, but does not count: the lock is not lost.
			p := startProcess(t, srv, command, "--grace", "0", "/l", "--", "sh", "-c",
				`trap 'echo asked; read x; exit 4' TERM; echo ready; while :; do sleep 1 & wait $!; done`)
			require.Equal(t, "ready", p.line())
			require.NoError(t, locks.Revoke(bounded(t), curatortest.Connect(t, srv), srv.Queue("/l")[0].Path))
			require.Equal(t, "asked", p.line())
			require.Len(t, srv.Children("/l"), 1, "held until the command has ended")
			_, err := p.stdin.Write([]byte("\n"))
			require.NoError(t, err)
			p.finish(4)
			require.Empty(t, srv.Children("/l"))
		})
	}
}

func TestALockThatIsTaken(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	_, release := hold(t, srv, "/l")
	defer release()
	for _, args := range [][]string{{"-n"}, {"--nonblock"}, {"-w", "0"}, {"-w50ms"}, {"--wait=0.05"}} {
		all := append([]string{"run", "/l"}, append(args, "--", "echo", "started")...)
		out, stderr := zklock(t, srv, notAcquired, all...)
		require.Empty(t, out)
		if strings.HasPrefix(args[0], "-n") {
			require.Contains(t, stderr, "held by the-test@")
		}
		require.Equal(t, 1, strings.Count(stderr, "\n"), "the reason is one line: %s", stderr)
	}
	zklock(t, srv, 1, "run", "-nE1", "/l", "true")
}

func TestAReadWriteLock(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	reader := startProcess(t, srv, "run", "-s", "/rw", "--", "sh", "-c", "echo reading; read x")
	require.Equal(t, "reading", reader.line())
	zklock(t, srv, 0, "run", "-s", "-n", "/rw", "true")
	zklock(t, srv, notAcquired, "run", "-x", "-n", "/rw", "true")
	_, stderr := zklock(t, srv, badUsage, "run", "-n", "/rw", "true")
	require.Contains(t, stderr, "asked for with -s or -x", "a mutex there would exclude nobody")
	reader.finish(1)
	zklock(t, srv, 0, "run", "-x", "-n", "/rw", "true")
}

// A lock or a leader election of another kind has the path. The two would not
// exclude each other.
func TestAPathOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	ctx := bounded(t)
	c := curatortest.Connect(t, srv)
	_, err := locks.NewInterProcessReadWriteLock(c, "/rw").ReadLock().Acquire(ctx)
	require.NoError(t, err)
	_, err = locks.NewInterProcessSemaphore(c, "/sem", locks.Limit(2)).Acquire(ctx)
	require.NoError(t, err)
	latch, err := leader.NewLatch(c, "/latch")
	require.NoError(t, err)
	_, err = latch.WaitLeadership(ctx)
	require.NoError(t, err)
	for path, kind := range map[string]string{"/rw": "read_write_lock", "/sem": "semaphore", "/latch": "leader_latch"} {
		for _, command := range [][]string{{"run", "-n"}, {"elect"}} {
			_, stderr := zklock(t, srv, badUsage, append(command, path, "--", "echo", "started")...)
			require.Contains(t, stderr, path+" is in use as a "+kind)
		}
	}
	require.NoError(t, latch.Shutdown(ctx))
}

// Two programs of different kinds begin together, and neither sees the other
// before both have a node.
func TestAPathOfAnotherKindIsRefusedAfterTheGrant(t *testing.T) {
	t.Parallel()
	const writer, mutex = "__WRIT__0000000000", "lock-0000000000"
	for name, tc := range map[string]struct {
		command   []string
		at, other string
	}{
		"run":       {[]string{"run", "/l", "--", "echo", "started"}, "/l/*", writer},
		"hold":      {[]string{"run", "--hold", "/l"}, "/l/*", writer},
		"elect":     {[]string{"elect", "/l", "--", "echo", "started"}, "/l/*", writer},
		"semaphore": {[]string{"run", "-c2", "/l", "--", "echo", "started"}, "/l/locks/*", mutex},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startServer(t)
			require.NoError(t, srv.Create("/l", nil))
			begun := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: tc.at, Do: zktest.Call(func(zktest.Request) {
				require.NoError(t, srv.Create("/l/"+tc.other, nil))
			})})
			stdout, stderr := zklock(t, srv, badUsage, tc.command...)
			require.Equal(t, 1, begun.Hits())
			require.Empty(t, stdout)
			require.Contains(t, stderr, "/l is in use as a ")
			left := srv.Children("/l")
			require.Subset(t, []string{tc.other, "leases", "locks"}, left)
			require.Empty(t, srv.Children("/l/leases"))
		})
	}
}

// Who waits is told once that the lock excludes others than it seems.
func TestAWaiterIsToldOfAnotherKind(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	hold(t, srv, "/l")
	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/l/*", Do: zktest.Call(func(zktest.Request) {
		require.NoError(t, srv.Create("/l/__WRIT__0000000000", nil))
	})})
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	p := newProcess(t, srv, "run", "/l", "true")
	p.cmd.Stderr = w
	p.start()
	w.Close()
	stderr := bufio.NewReader(r)
	line, err := stderr.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "two recipes use one path, and neither waits for the other")
	require.Contains(t, line, "/l/__WRIT__0000000000")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.finish(bySignal + int(syscall.SIGTERM))
	rest, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Empty(t, rest)
}

func TestASemaphore(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	one := startProcess(t, srv, "run", "-c", "2", "/sem", "--", "sh", "-c", "echo in; read x")
	require.Equal(t, "in", one.line())
	two := startProcess(t, srv, "run", "-c2", "/sem", "--", "sh", "-c", "echo in; read x")
	require.Equal(t, "in", two.line())
	zklock(t, srv, notAcquired, "run", "-c", "2", "-n", "/sem", "true")
	one.finish(1)
	zklock(t, srv, 0, "run", "-c", "2", "-n", "/sem", "true")
	two.finish(1)
}

func TestAtLeastKeepsTheLock(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--at-least", "1h", "/l", "--", "sh", "-c", `exec >"$0"; echo done; exit 6`, l.path)
	require.Equal(t, "done", l.line())
	l.end()
	zklock(t, srv, notAcquired, "run", "-w", "0.2", "/l", "true")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.finish(6)
	require.Empty(t, srv.Children("/l"))
}

// There is nothing to keep a lock for if no program was started.
func TestAtLeastIsForWhatWasStarted(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	zklock(t, srv, notFound, "run", "--at-least", "1h", "/l", "/no/such/program")
	require.Empty(t, srv.Children("/l"))
}

// The signal reaches the command, and ends the time after it as well.
func TestAStopEndsTheLeastTime(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "run", "--at-least", "1h", "/l", "--", "sh", "-c",
		`trap "exit 6" TERM; echo ready; while :; do sleep 1 & wait $!; done`)
	require.Equal(t, "ready", p.line())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.finish(6)
}

func TestRunHolds(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	for name, end := range map[string]func(p *process) int{
		"until a signal": func(p *process) int { p.cmd.Process.Signal(syscall.SIGTERM); return 0 },
		"until the end":  func(p *process) int { p.stdin.Close(); return 0 },
		"until the loss": func(p *process) int {
			srv.Delete(srv.Queue("/hold")[0].Path)
			io.Copy(io.Discard, p.stdout)
			return lost
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProcess(t, srv, "run", "--hold", "/hold")
			require.Regexp(t, `^holding /hold with token [0-9]+$`, p.line())
			status := end(p)
			p.finish(status)
			require.Empty(t, srv.Children("/hold"))
		})
	}
}

func TestNoRights(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	c := curatortest.Connect(t, srv, framework.WithAuth("digest", []byte("joe:secret")))
	_, err := c.Create(t.Context(), "/private", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "joe", "secret")))
	require.NoError(t, err)
	zklock(t, srv, noRights, "run", "/private", "true")
	auth := filepath.Join(t.TempDir(), "auth")
	require.NoError(t, os.WriteFile(auth, []byte("# credentials\ndigest:joe:secret\n"), 0o600))
	zklock(t, srv, 0, "--auth-file", auth, "run", "/private", "true")
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	_, stderr := zklock(t, deadServer{}, noServer, "run", "--connect-timeout", "0.1", "/l", "true")
	require.Contains(t, stderr, "no server of 127.0.0.1:1 answered within 100ms")
}
