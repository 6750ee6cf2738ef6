package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A command whose guard was killed is killed, too: nobody would end it when
// zklock dies.
func TestAGuardThatIsKilledTakesTheCommandWithIt(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "/l", "--", "sh", "-c", nested, l.path)
	require.Equal(t, "ready", l.line())
	kill(t, onlyChild(t, onlyChild(t, p.cmd.Process.Pid)))
	l.end()
	p.finish(ownFailure)
	require.Equal(t, "zklock: /l: somebody has killed the guard, and the command with it\n", p.stderr.String())
	require.Empty(t, srv.Children("/l"), "the lock was released")
}

// One guard is enough for a command to go on.
func TestTheCommandGoesOnWithOneGuard(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "run", "/l", "--", "sh", "-c", `echo ready; read x; echo "got $x"; exit 7`)
	require.Equal(t, "ready", p.line())
	kill(t, onlyChild(t, p.cmd.Process.Pid))
	_, err := p.stdin.Write([]byte("on\n"))
	require.NoError(t, err)
	require.Equal(t, "got on", p.line())
	p.finish(7)
}

// Nobody but zklock and its guards is killed. The system kills the command then.
func TestTheCommandDiesWithZklockAndAllGuards(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "/l", "--", "sh", "-c", stubborn, l.path)
	require.Equal(t, "ready", l.line())
	outer := onlyChild(t, p.cmd.Process.Pid)
	inner := onlyChild(t, outer)
	for _, pid := range []int{outer, inner, p.cmd.Process.Pid} {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	for _, pid := range []int{outer, p.cmd.Process.Pid, inner} {
		kill(t, pid)
	}
	l.end()
}

// A zklock that dies after TERM leaves no second grace: somebody has waited
// already. So the command of a zklock under a zklock has one, too.
func TestADeathAfterTermLeavesNoSecondGrace(t *testing.T) {
	srv := startServer(t)
	long := []string{"run", "--session-timeout", "200s", "--grace", "90"}
	t.Run("one", func(t *testing.T) {
		t.Parallel()
		l := newLife(t)
		p := startProcess(t, srv, append(long, "/l", "--", "sh", "-c", stubborn, l.path)...)
		require.Equal(t, "ready", l.line())
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		require.Equal(t, "TERM", l.line())
		require.NoError(t, p.cmd.Process.Kill())
		l.end()
	})
	t.Run("during --on-lost", func(t *testing.T) {
		t.Parallel()
		l, hook := newLife(t), newLife(t)
		p := startProcess(t, srv, append(long, "--on-lost", "exec=exec >"+hook.path+"; echo hook; exec sleep 1000",
			"/hook", "--", "sh", "-c", stubborn, l.path)...)
		require.Equal(t, "ready", l.line())
		require.NoError(t, srv.Delete(srv.Queue("/hook")[0].Path))
		require.Equal(t, "hook", hook.line())
		require.NoError(t, p.cmd.Process.Kill())
		l.end()
		hook.end()
	})
	t.Run("one under another", func(t *testing.T) {
		t.Parallel()
		l := newLife(t)
		inner := strings.Join(append([]string{program}, long...), " ")
		p := startProcess(t, srv, "run", "--grace", "0.1", "/outer", "--", "sh", "-c",
			inner+` /inner -- sh -c '`+stubborn+`' "$0"; true`, l.path)
		require.Equal(t, "ready", l.line())
		require.NoError(t, srv.Delete(srv.Queue("/outer")[0].Path))
		l.end()
		p.finish(lost)
	})
}

// A command that somebody has stopped hears TERM when zklock dies, and has its
// grace: a stopped process does not act on a signal before it goes on.
func TestAStoppedCommandHasItsGraceWhenZklockDies(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--session-timeout", "200s", "--grace", "90", "/l", "--", "sh", "-c", stubborn, l.path)
	require.Equal(t, "ready", l.line())
	command := onlyChild(t, onlyChild(t, onlyChild(t, p.cmd.Process.Pid)))
	killInTheEnd(t, command)
	require.NoError(t, syscall.Kill(command, syscall.SIGSTOP))
	awaitState(t, command, "T", true)
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, "TERM", l.line())
	require.NoError(t, os.Remove(l.path)) // it ends then
	l.end()
}

// Nobody leaves once a signal was passed on that asks the command to end, also if
// zklock dies then.
func TestNobodyLeavesAfterASignal(t *testing.T) {
	srv := startServer(t)
	for sig, name := range map[syscall.Signal]string{
		syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGHUP: "HUP", syscall.SIGQUIT: "QUIT",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			file := filepath.Join(t.TempDir(), "work")
			require.NoError(t, os.WriteFile(file, []byte(work), 0o600))
			p := startProcess(t, srv, "run", "--grace", "0.1", "/"+name, "--", "sh", "-c",
				`trap 'setsid -f sh "$0" "$1"' `+name+`; echo ready; while :; do sleep 1 & wait $!; done`, file, l.path)
			require.Equal(t, "ready", p.line())
			require.NoError(t, p.cmd.Process.Signal(sig))
			require.Equal(t, "working", l.line())
			require.NoError(t, p.cmd.Process.Kill())
			l.end()
		})
	}
}
