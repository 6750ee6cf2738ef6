package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// A long command makes orphans. Whoever has adopted them waits for them, and
// takes the command's own status for what it is.
func TestOrphansOfTheCommandAreReaped(t *testing.T) {
	srv := startServer(t)
	for _, command := range []string{"run", "elect"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t)
			p := startProcess(t, srv, command, "/"+command, "--", "sh", "-c",
				`echo $PPID; for i in 1 2 3 4 5 6 7 8 9; do (sh -c 'echo orphan' &); done; read x; exit 7`)
			guard, err := strconv.Atoi(p.line())
			require.NoError(t, err)
			for range 9 {
				require.Equal(t, "orphan", p.line())
			}
			for ; childrenOf(t, guard) > 1; betweenLooks() { // the command is one
				require.NoError(t, ctx.Err())
			}
			p.finish(7)
		})
	}
}

// A command leaves a process in a session of its own, which ends when the next
// command runs. Nobody but zklock can wait for it.
func TestElectReapsOrphansOfEarlierCommands(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	ctx := bounded(t)
	l := newLife(t)
	p := startProcess(t, srv, "elect", "--restart", "/el", "--", "sh", "-c",
		`if mkdir "$0.first"; then setsid -f sh -c '`+daemon+`' "$0"; fi 2>/dev/null
		echo leading; read x; exit 7`, l.path)
	require.Equal(t, "leading", p.line())
	require.Equal(t, "daemon", l.line())
	_, err := p.stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.Equal(t, "leading", p.line())
	require.Contains(t, p.stderr.String(), "standing again: the command has ended with status 7")
	require.False(t, l.over(), "the daemon has left the command")
	require.NoError(t, os.Remove(l.path))
	l.end()
	for ; childrenOf(t, p.cmd.Process.Pid) > 1; betweenLooks() { // a guard is one
		require.NoError(t, ctx.Err())
	}
	require.NoError(t, p.cmd.Process.Kill())
}

// The way to leave work behind is a session of its own, and a parent that has
// ended. A daemon that forks twice says that it runs when the first fork, which
// leads its session, was reaped.
func TestADaemonOutlivesTheLock(t *testing.T) {
	srv := startServer(t)
	for name, start := range map[string]string{
		"that leads its session": `setsid -f sh -c "$1" "$0"`,
		"that has forked twice":  `(setsid sh -c '(sh -c "while [ -d /proc/$$ ]; do sleep 0.01; done; $1" "$0" &)' "$0" "$1" &)`,
		"at the very end":        `read x; exec setsid -f sh -c "$1" "$0"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			path := "/" + strconv.Itoa(len(name))
			p := startProcess(t, srv, "run", "--grace", "0.1", path, "--", "sh", "-c", start+`; read x; exit 3`, l.path, daemon)
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
