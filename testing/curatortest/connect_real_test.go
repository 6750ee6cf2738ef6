//go:build real

package curatortest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func init() { closeShared = append(closeShared, zkserver.CloseShared) }

func TestConnectToARealServer(t *testing.T) {
	t.Parallel()
	c := curatortest.Connect(t, zkserver.Shared(t))
	require.NoError(t, c.Sync(t.Context(), "/"))
}

// process is a server whose process a test can stop, restart and pause.
type process interface {
	curatortest.Server
	Stop() error
	Restart() error
	Pause() error
	Resume() error
}

// One test body serves for both kinds of servers.
func TestProcessOfEitherKind(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) process{
		"fake":   func(t *testing.T) process { return zktest.Start(t, zktest.WithTCP("127.0.0.1:0")) },
		"member": func(t *testing.T) process { return zktest.StartEnsemble(t, 1).Leader() },
		"real":   func(t *testing.T) process { return zkserver.Borrow(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t)
			client := curatortest.Connect(t, srv, framework.WithSessionTimeout(20*time.Second))
			node, err := client.Create(t.Context(), "/process-", nil, framework.WithMode(framework.EphemeralSequential))
			require.NoError(t, err)

			require.NoError(t, srv.Stop())
			require.NoError(t, srv.Stop(), "it does not run")
			require.Error(t, srv.Pause())
			require.Error(t, srv.Resume())
			require.NoError(t, srv.Restart())
			require.NoError(t, srv.Resume(), "it is not paused")
			require.NoError(t, srv.Pause())
			require.NoError(t, srv.Restart())

			require.NoError(t, client.WaitConnected(t.Context()))
			exists, _, err := client.Exists(t.Context(), node.Path)
			require.NoError(t, err)
			require.True(t, exists, "the session has outlived the restarts")
		})
	}
}
