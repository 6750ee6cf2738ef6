//go:build unix

package main

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// When the program looks, the lock is lost, and the command has ended with 0.
// Nothing tells which was first, so that the status is not the command's.
func TestALossIsTheStatusAlsoIfTheCommandHasEnded(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	for range 10 {
		c, err := framework.Connect(t.Context(), srv.Addr())
		require.NoError(t, err)
		lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(t.Context())
		require.NoError(t, err)
		stop := defineStopping(&flag.FlagSet{})
		e := &env{streams: streams{os.Stdin, os.Stdout, os.Stderr}, settings: defaults()}
		g := &guarded{env: e, client: c, path: "/l", kind: inspect.Mutex, args: []string{"true"}, stop: stop}
		p, err := g.start(lease, os.Environ(), &lossFile{}, time.Second)
		require.NoError(t, err)
		<-p.Gone()
		require.True(t, srv.Session(c.SessionID()).Expire())
		<-lease.Context().Done()
		err = (&watch{guarded: g, p: p, lease: lease}).untilGone()
		require.Equal(t, lost, statusOf(err), "%v", err)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.NoError(t, c.Close())
	}
}

// The command ends with 0 right after the loss, of which this process has not
// heard yet: a holder watches its node after a second only.
func TestALossThatTheServerKnowsOfIsTheStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		lose func(srv *zktest.Server)
		says string
	}{
		"the node": {
			func(srv *zktest.Server) { srv.Delete(srv.Queue("/l")[0].Path) },
			"lock node deleted by someone else",
		},
		"the session": {
			func(srv *zktest.Server) { srv.Session(srv.Queue("/l")[0].Stat.EphemeralOwner).Expire() },
			"session lost",
		},
	} {
		for _, args := range [][]string{{"run", "/l", "--"}, {"elect", "/l", "--"}, {"run", "--hold", "/l"}} {
			t.Run(name+" of "+args[0]+args[1], func(t *testing.T) {
				t.Parallel()
				srv := startServer(t)
				if args[1] != "--hold" {
					args = append(args, "sh", "-c", `trap "" TERM; echo holding; read x; exit 0`)
				}
				p := startProcess(t, srv, args...)
				require.Contains(t, p.line(), "holding")
				tc.lose(srv)
				p.stdin.Close()
				p.finish(lost)
				require.Contains(t, p.stderr.String(), "zklock: lost /l: "+tc.says)
			})
		}
	}
}

// No server answers when the command has ended. The session is not over, so
// that the status is the command's, and a line says that nobody has confirmed
// it, whether the servers are silent or out of reach. For how long it takes, see
// TestTheSessionTimeoutIsKnownInAnOutage.
func TestAnOutageAtTheEndIsNoLoss(t *testing.T) {
	thorough.LongWait(t)
	t.Parallel()
	for name, cut := range map[string]func(srv *zktest.Server){
		"silent": func(srv *zktest.Server) { srv.Session(srv.Queue("/l")[0].Stat.EphemeralOwner).Pause() },
		"gone":   func(srv *zktest.Server) { srv.RefuseConnections(true); srv.CutAll() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			p := startProcess(t, srv, "run", "--session-timeout", "40s", "/l", "--", "sh", "-c", "echo ready; read x; exit 3")
			require.Equal(t, "ready", p.line())
			cut(srv)
			p.finish(3)
			require.Contains(t, p.stderr.String(), "zklock: no server has confirmed that /l was held to the end: ")
		})
	}
}
