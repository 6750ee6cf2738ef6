//go:build unix

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
)

// The command of --on-lost starts a process that does not end by itself, in the
// foreground or in the background. Neither outlives the grace.
func TestNothingOfOnLostOutlivesTheGrace(t *testing.T) {
	thorough.LongWait(t)
	t.Parallel()
	for name, background := range map[string]string{"foreground": "; true", "background": " &"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			l := newLife(t)
			p := startProcess(t, srv, "run", "--session-timeout", "20s", "--grace", "9",
				"--on-lost", "exec=sh -c '"+stubborn+"' "+l.path+background, "/l", "--",
				"sh", "-c", `echo holding; while :; do sleep 1; done`)
			require.Equal(t, "holding", p.line())
			require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
			require.Equal(t, "ready", l.line())
			p.finish(lost)
			require.True(t, l.over(), "a process of --on-lost has outlived zklock")
			require.Contains(t, p.stderr.String(), "zklock: --on-lost: killed after 9s")
		})
	}
}

// The grace is not known to be above 0, as that of a session that was lost
// before the command was started. The command of --on-lost has no time then.
func TestOnLostWithoutTimeIsAKill(t *testing.T) {
	srv := startServer(t)
	set := defaults()
	c, err := framework.Connect(t.Context(), srv.Addr())
	require.NoError(t, err)
	defer c.Close()
	g, lease, file := toTouch(t, c, set, make(chan os.Signal))
	var stderr bytes.Buffer
	g.args = []string{"sleep", "1000"}
	p, err := g.start(lease, os.Environ(), &lossFile{}, 0)
	require.NoError(t, err)
	require.NoError(t, g.stop.onLost.Set("exec=touch "+file))
	require.True(t, srv.Session(c.SessionID()).Expire())
	<-lease.Context().Done()
	g.env = &env{streams: streams{err: &stderr}, settings: set}
	err = (&watch{guarded: g, p: p, lease: lease}).untilGone()
	require.Equal(t, lost, statusOf(err), "%v", err)
	require.Equal(t, 128+9, p.Status())
	require.Equal(t, "zklock: --on-lost: there is no time for it: sending KILL\n", stderr.String())
	require.NoFileExists(t, file)
}

// The command of --on-lost cannot be started, here as its text is too long for
// the system. TERM comes in its place.
func TestTermComesIfOnLostCannotBeStarted(t *testing.T) {
	srv := startServer(t)
	set := defaults()
	c, err := framework.Connect(t.Context(), srv.Addr())
	require.NoError(t, err)
	defer c.Close()
	g, lease, _ := toTouch(t, c, set, make(chan os.Signal))
	l := newLife(t)
	var stderr bytes.Buffer
	const grace = time.Hour
	g.args = []string{"sh", "-c", `exec >"$0"; trap 'echo TERM; exit 5' TERM; echo ready; while :; do sleep 1 & wait $!; done`, l.path}
	p, err := g.start(lease, os.Environ(), &lossFile{}, grace)
	require.NoError(t, err)
	require.Equal(t, "ready", l.line())
	require.NoError(t, g.stop.onLost.Set("exec=true "+strings.Repeat("x", 200_000)))
	require.NoError(t, srv.Delete(lease.Path()))
	g.env = &env{streams: streams{err: &stderr}, settings: set}
	ended := make(chan error, 1)
	go func() { ended <- (&watch{guarded: g, p: p, lease: lease, grace: grace}).untilGone() }()
	require.Equal(t, "TERM", l.line())
	require.Equal(t, lost, statusOf(<-ended))
	require.Equal(t, 5, p.Status())
	require.Contains(t, stderr.String(), "zklock: --on-lost: not started: ")
}
