package main

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// startShell starts a shell with job control on a terminal. If it is still there
// after some time, all on its terminal is killed: there is nothing more to see.
func startShell(t *testing.T, srv *zktest.Server) *tty {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	session := strconv.Itoa(y.cmd.Process.Pid)
	killAll := func() {
		for pid, stat := range processes(t) {
			if stat[3] == session {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	late := time.AfterFunc(patience+5*time.Second, killAll) // after those who wait have said for what
	t.Cleanup(func() {
		if late.Stop() {
			killAll()
		}
	})
	y.see("prompt")
	return y
}

// awaitState waits until a process has a state, or has it no more.
func awaitState(t *testing.T, pid int, state string, want bool) {
	t.Helper()
	ctx := bounded(t)
	for ; ; betweenLooks() {
		stat, ok := processes(t)[pid]
		require.True(t, ok, "process %d has ended", pid)
		if (stat[0] == state) == want {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("process %d is in state %s, and %s is to be %t", pid, stat[0], state, want)
		}
	}
}

// The whole job is stopped, so that the session can end while zklock does not
// see it. Nothing that descends from the command may run on then. The innermost
// shell starts its command in the background: in the foreground, it would vfork,
// and a shell whose child is stopped before its exec is in state D, not in T.
func TestAJobThatIsStoppedStopsWithItsDescendants(t *testing.T) {
	srv := startServer(t)
	for name, stop := range map[string]func(t *testing.T, y *tty, command int){
		"Ctrl-Z": func(_ *testing.T, y *tty, _ int) { y.keys(ctrlZ) },
		"kill -STOP": func(t *testing.T, _ *tty, command int) {
			require.NoError(t, syscall.Kill(command, syscall.SIGSTOP))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := startShell(t, srv)
			l := newLife(t)
			path := "/" + strings.ReplaceAll(name, " ", "")
			y.keys(`"$ZKLOCK" run ` + path + ` -- sh -c 'timeout 600 sh -c "exec >\"\$0\"; echo \$\$; sleep 1000 & wait" ` +
				l.path + `; true'` + "\n")
			work, err := strconv.Atoi(l.line())
			require.NoError(t, err)
			timeout := parentOf(t, work)
			command := parentOf(t, timeout)
			zklock := parentOf(t, parentOf(t, parentOf(t, command)))
			stop(t, y, command)
			for _, pid := range []int{zklock, command, timeout, work} {
				awaitState(t, pid, "T", true)
			}
			y.see("prompt")
			y.keys("fg\n")
			for _, pid := range []int{zklock, command, timeout, work} {
				awaitState(t, pid, "T", false)
			}
			require.NoError(t, srv.Delete(srv.Queue(path)[0].Path))
			l.end()
			y.see("the command was stopped")
		})
	}
}

// A shell looks after a job that is a script, in which zklock runs.
func TestAJobThatIsAScriptStops(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	y := startShell(t, srv)
	l := newLife(t)
	y.keys(`sh -c '"$ZKLOCK" run /l -- sh -c "exec >\"\$0\"; echo \$\$; sleep 1000 & wait" ` + l.path + "; true'\n")
	command, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	zklock := parentOf(t, parentOf(t, parentOf(t, command))) // of both guards
	y.keys(ctrlZ)
	for _, pid := range []int{command, zklock, parentOf(t, zklock)} {
		awaitState(t, pid, "T", true)
	}
	y.see("prompt")
	y.keys("fg\n")
	for _, pid := range []int{command, zklock} {
		awaitState(t, pid, "T", false)
	}
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	l.end()
	y.see("the command was stopped")
}

// The grace has begun, and somebody stops the command. zklock does not stop with
// it: it has the command go on, and waits for its end.
func TestNothingStopsInTheGrace(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	y := startShell(t, srv)
	l := newLife(t)
	y.keys(`"$ZKLOCK" run --session-timeout 200s --grace 90 /l -- sh -c 'exec >` + l.path +
		`; trap "echo TERM" TERM; trap "echo CONT" CONT; trap exit USR1; echo $$; while :; do sleep 1 & wait $!; done'` + "\n")
	command, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	// CONT comes behind TERM. A shell to which it comes just before it acts on
	// TERM, acts on CONT first.
	require.ElementsMatch(t, []string{"TERM", "CONT"}, []string{l.line(), l.line()})
	y.keys(ctrlZ)
	require.Equal(t, "CONT", l.line())
	require.NoError(t, syscall.Kill(command, syscall.SIGUSR1))
	l.end()
	y.see("the command was stopped")
}

// The command of --on-lost wants the terminal, which it does not get. It stops,
// and zklock does not.
func TestOnLostDoesNotStopZklock(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	y := startShell(t, srv)
	l := newLife(t)
	y.keys(`"$ZKLOCK" run --grace 2 --on-lost 'exec=read x </dev/tty' /l -- sh -c '` +
		strings.ReplaceAll(stubborn, `"$0"`, l.path) + `'` + "\n")
	require.Equal(t, "ready", l.line())
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	l.end()
	y.see("the command was stopped")
}
