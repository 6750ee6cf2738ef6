//go:build unix

package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// afterTheEnd is a stderr whose writes wait until a command has ended.
type afterTheEnd struct {
	bytes.Buffer
	p     *child.Process
	early bool // the command had not ended after some time
}

func (w *afterTheEnd) Write(b []byte) (int, error) {
	select {
	case <-w.p.Exited():
	case <-time.After(patience / 3):
		w.early = true
	}
	return w.Buffer.Write(b)
}

// What ends the command comes before the note of it.
func TestAGuardActsBeforeItTells(t *testing.T) {
	const willing = `exec >"$0"; echo ready; exec sleep 1000`
	expire := func(srv *zktest.Server, _ chan os.Signal) error {
		srv.Session(srv.Queue("/l")[0].Stat.EphemeralOwner).Expire()
		return nil
	}
	for name, tc := range map[string]struct {
		script string
		grace  time.Duration
		onLost string
		do     func(srv *zktest.Server, signals chan os.Signal) error
		says   string
	}{
		"a signal": {willing, time.Minute, "term", func(_ *zktest.Server, signals chan os.Signal) error {
			signals <- syscall.SIGUSR1
			return nil
		}, "zklock: forwarding user defined signal 1\n"},
		"a revocation": {willing, time.Minute, "term", func(srv *zktest.Server, _ chan os.Signal) error {
			return srv.Set(srv.Queue("/l")[0].Path, []byte("__REVOKE__"))
		}, "zklock: somebody asks for /l: sending TERM\n"},
		"the end of the grace": {stubborn, time.Millisecond, "term", expire, "zklock: sending KILL\n"},
		"no time for --on-lost": {stubborn, 0, "exec=true", expire,
			"zklock: --on-lost: there is no time for it: sending KILL\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			set := defaults()
			c, err := framework.Connect(t.Context(), srv.Addr())
			require.NoError(t, err)
			defer c.Close()
			signals := make(chan os.Signal, 1)
			g, lease, _ := toTouch(t, c, set, signals)
			l := newLife(t)
			g.args = []string{"sh", "-c", tc.script, l.path}
			require.NoError(t, g.stop.onLost.Set(tc.onLost))
			p, err := g.start(lease, os.Environ(), &lossFile{}, tc.grace)
			require.NoError(t, err)
			stderr := &afterTheEnd{p: p}
			set.verbose = true
			g.env = &env{streams: streams{err: stderr}, settings: set}
			ended := make(chan error, 1)
			go func() {
				ended <- (&watch{guarded: g, p: p, lease: lease, grace: tc.grace}).untilGone()
			}()
			require.Equal(t, "ready", l.line())
			require.NoError(t, tc.do(srv, signals))
			require.Error(t, <-ended)
			require.Contains(t, stderr.String(), tc.says)
			require.False(t, stderr.early, "the command still ran when this was told")
		})
	}
}
