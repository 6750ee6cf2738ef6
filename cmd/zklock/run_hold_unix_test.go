//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program ends at once, and its session keeps the lock.
func TestHoldAtLeastOutlastsTheProgram(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	zklock(t, srv, 6, "run", "--hold-at-least", longSession, "/l", "--", "sh", "-c", "exit 6")
	require.Len(t, srv.Children("/l"), 1)
	zklock(t, srv, notAcquired, "run", "-n", "/l", "true")
	for _, command := range []string{"ls", "show"} {
		out, _ := zklock(t, srv, 0, command, "/l")
		require.Contains(t, out, " (released, kept until ", command)
	}
	out, _ := zklock(t, srv, 0, "show", "-o", "json", "/l")
	require.Contains(t, out, `"kept_until":"`)
	require.Len(t, srv.Sessions(), 1, "that of the lock")
	srv.Session(srv.Sessions()[0].ID).Expire()
	zklock(t, srv, 0, "run", "-n", "/l", "true")
}

// The program stays until the session can keep the lock for the rest. A signal
// ends that, and the session keeps the lock all the same.
func TestHoldAtLeastStaysForWhatTheSessionCannotKeep(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startProcess(t, srv, "run", "--hold-at-least", "1h", "/l", "--", "sh", "-c", `exec >"$0"; echo done; exit 6`, l.path)
	require.Equal(t, "done", l.line())
	l.end()
	zklock(t, srv, notAcquired, "run", "-w", "0.2", "/l", "true")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.finish(6)
	require.Len(t, srv.Children("/l"), 1)
}

// Who revokes the lock gets it, also when the command has ended.
func TestARevocationEndsTheLeastTime(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	for _, flag := range []string{"--at-least", "--hold-at-least"} {
		l := newLife(t)
		p := startProcess(t, srv, "run", flag, "1h", "/l", "--", "sh", "-c", `exec >"$0"; echo done; exit 6`, l.path)
		require.Equal(t, "done", l.line())
		l.end()
		zklock(t, srv, 0, "revoke", "/l")
		p.finish(6)
		require.Empty(t, srv.Children("/l"), flag)
	}
}

// There is nothing to keep a lock for if no program was started.
func TestHoldAtLeastIsForWhatWasStarted(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	zklock(t, srv, notFound, "run", "--hold-at-least", "1h", "/l", "/no/such/program")
	require.Empty(t, srv.Children("/l"))
	require.Empty(t, srv.Sessions())
}

func TestHoldAtLeastIsForAMutex(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	for _, kind := range [][]string{{"-s"}, {"-x"}, {"-c", "3"}} {
		args := append([]string{"run", "--hold-at-least", "1"}, kind...)
		_, text := zklock(t, srv, badUsage, append(args, "/l", "true")...)
		require.Contains(t, text, "--hold-at-least is for a mutex")
	}
}
