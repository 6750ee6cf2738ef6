//go:build unix

package main

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/curatortest"
)

func TestTheNextLeadsWhenTheCommandHasEnded(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	one := startProcess(t, srv, "elect", "--id", "one", "/el", "--", "sh", "-c", "echo leading; read x; exit 3")
	require.Equal(t, "leading", one.line())
	two := startProcess(t, srv, "elect", "/el", "--id=two", "--", "sh", "-c", "echo leading $ZKLOCK_ID; read x")
	require.NoError(t, srv.WaitChildren(bounded(t), "/el", 2))
	one.finish(3)
	require.Equal(t, "leading two", two.line())
	two.finish(1)
}

func TestElectStandsAgain(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "elect", "--restart", "--session-timeout", "20s", "--grace", "9", "/el", "--", "sh", "-c",
		`trap "echo TERM; exit 7" TERM; echo leading; while :; do sleep 1 & wait $!; done`)
	require.Equal(t, "leading", p.line())
	require.NoError(t, srv.Delete(srv.Queue("/el")[0].Path))
	require.Equal(t, "TERM", p.line())
	require.Equal(t, "leading", p.line(), "it stands again after a loss")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "TERM", p.line())
	p.finish(7)
}

func TestElectObserves(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	p := startProcess(t, srv, "elect", "--observe", "/el")
	require.True(t, strings.HasSuffix(p.line(), " nobody leads"))
	c := curatortest.Connect(t, srv)
	err := leader.NewSelector(c, "/el", leader.WithID("worker-1")).Run(bounded(t), func(context.Context) error {
		require.Regexp(t, `^\S+Z worker-1 leads with token [0-9]+$`, p.line())
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.finish(128 + int(syscall.SIGINT))
}

func TestWaitTakesNothing(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	zklock(t, srv, 0, "wait", "/no/such/lock")
	lease, release := hold(t, srv, "/l")
	_, stderr := zklock(t, srv, notAcquired, "wait", "-n", "/l")
	require.Contains(t, stderr, "/l is held by the-test@")
	zklock(t, srv, 1, "wait", "-w", "0.05", "-E", "1", "/l")
	p := startProcess(t, srv, "wait", "/l")
	require.NoError(t, srv.WaitFor(bounded(t), func() bool { return len(srv.WatchesOn(lease.Path())) > 0 }))
	require.Len(t, srv.Children("/l"), 1)
	release()
	p.finish(0)
}

// The lock is held by one and wanted by another. Who is not let in is told of
// the holder, by wait as by run.
func TestWaitAndRunNameTheHolder(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	hold(t, srv, "/l")
	startProcess(t, srv, "run", "/l", "true")
	require.NoError(t, srv.WaitChildren(bounded(t), "/l", 2))
	for _, args := range [][]string{{"wait", "-n", "/l"}, {"run", "-n", "/l", "true"}} {
		_, stderr := zklock(t, srv, notAcquired, args...)
		require.Contains(t, stderr, "held by the-test@", args)
	}
}
