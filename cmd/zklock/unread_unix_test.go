//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// startUnread starts a zklock whose output and stderr nobody reads. A program
// that has not ended after patience is killed.
func startUnread(t *testing.T, srv addr, args ...string) *process {
	t.Helper()
	p := newProcess(t, srv, args...)
	p.cmd.Stdout, p.cmd.Stderr = fullPipe(t), fullPipe(t)
	p.start()
	late := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop() })
	return p
}

// fullPipe returns the end of a pipe in which there is no room.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	raw, err := w.SyscallConn()
	require.NoError(t, err)
	for _, page := range [][]byte{make([]byte, 4096), make([]byte, 1)} {
		var full error
		for full == nil {
			require.NoError(t, raw.Write(func(fd uintptr) bool {
				_, full = syscall.Write(int(fd), page)
				return true
			}))
			if errors.Is(full, syscall.EINTR) {
				full = nil
			}
		}
		require.ErrorIs(t, full, syscall.EAGAIN)
	}
	return w
}

// TERM and KILL come although there is a note of each, before or after them.
func TestALossStopsTheCommandOfAnUnreadZklock(t *testing.T) {
	t.Parallel()
	const willing = `trap 'echo TERM; exit' TERM; echo ready; while :; do sleep 1 & wait $!; done`
	long := []string{"--session-timeout", "200s", "--grace", "90"}
	for name, tc := range map[string]struct {
		flags  []string
		script string
		says   string // in the end
	}{
		"TERM":      {long, willing, "TERM"},
		"KILL":      {[]string{"--grace", "0.1"}, `trap "" TERM; echo ready; exec sleep 1000`, ""},
		"--on-lost": {append(long, "--on-lost", "exec=kill -TERM -$ZKLOCK_PID"), willing, "TERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			l := newLife(t)
			args := append([]string{"run", "-v"}, tc.flags...)
			p := startUnread(t, srv, append(args, "/l", "--", "sh", "-c", `exec >"$0" 2>/dev/null; `+tc.script, l.path)...)
			require.Equal(t, "ready", l.line())
			require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
			if tc.says != "" {
				require.Equal(t, tc.says, l.line())
			}
			l.end()
			p.finish(lost)
		})
	}
}

// A signal and a revocation reach the command. Its status is that of zklock, and
// the lock is free.
func TestAnUnreadZklockPassesOnWhatItHears(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	p := startUnread(t, srv, "run", "-v", "/l", "--", "sh", "-c",
		`exec >"$0" 2>/dev/null; trap 'echo USR1' USR1; trap 'echo TERM; exit 5' TERM; echo ready; while :; do sleep 1 & wait $!; done`, l.path)
	require.Equal(t, "ready", l.line())
	for range 3 {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGUSR1))
		require.Equal(t, "USR1", l.line())
	}
	require.NoError(t, locks.Revoke(bounded(t), curatortest.Connect(t, srv), srv.Queue("/l")[0].Path))
	require.Equal(t, "TERM", l.line())
	p.finish(5)
	require.Empty(t, srv.Children("/l"))
}

// An error is a status also if nobody reads which one it is.
func TestAnUnreadZklockEndsWithItsStatus(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	hold(t, srv, "/held")
	for status, args := range map[int][]string{
		badUsage:    {"run", "--no-such-flag"},
		notAcquired: {"run", "-v", "-n", "/held", "true"},
		notFound:    {"run", "-v", "/l", "no-such-program"},
		3:           {"elect", "-v", "/l", "--", "sh", "-c", "exit 3"},
	} {
		startUnread(t, srv, args...).finish(status)
	}
}

// A lock that is held without a command is released at a signal and at the end
// of a pipe, and its loss is noticed, although nobody reads that it is held.
func TestAnUnreadHoldEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		end    func(p *process, srv *zktest.Server) error
	}{
		"a signal":       {0, func(p *process, _ *zktest.Server) error { return p.cmd.Process.Signal(syscall.SIGTERM) }},
		"the pipe's end": {0, func(p *process, _ *zktest.Server) error { return p.stdin.Close() }},
		"a revocation": {0, func(_ *process, srv *zktest.Server) error {
			return srv.Set(srv.Queue("/l")[0].Path, []byte("__REVOKE__"))
		}},
		"a loss": {lost, func(_ *process, srv *zktest.Server) error { return srv.Delete(srv.Queue("/l")[0].Path) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			p := startUnread(t, srv, "run", "-v", "--hold", "/l")
			require.NoError(t, srv.WaitWatches(bounded(t), 0, 1), "it listens to revocations by now")
			require.NoError(t, tc.end(p, srv))
			_ = p.cmd.Wait() // stdin is still open: nothing else ends it
			p.finish(tc.status)
			require.Empty(t, srv.Children("/l"))
		})
	}
}

// A command whose output nobody reads ends at the first signal.
func TestAStopEndsACommandThatNobodyReads(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"elect", "--observe", "/l"}, {"ls", "/"}} {
		srv := startServer(t)
		hold(t, srv, "/l")
		p := startUnread(t, srv, args...)
		connected := func() bool { return len(srv.Sessions()) == 2 }
		require.NoError(t, srv.WaitFor(bounded(t), connected), "it hears signals by now")
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		p.finish(bySignal + int(syscall.SIGTERM))
	}
}
