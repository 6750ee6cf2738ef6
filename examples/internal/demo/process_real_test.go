//go:build real

package demo

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// brave and broken are names of workers. The second one fails.
const (
	brave  = "brave"
	broken = "broken"
)

// beThere is a worker that has a node for as long as its session lives.
func beThere(ctx context.Context, name string, client *framework.Client) error {
	if name == broken {
		return errBroken
	}
	if _, err := client.Create(ctx, "/live/"+name, nil, framework.WithMode(framework.Ephemeral)); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// startWorkers returns workers that are there, and the function that ends them.
func startWorkers(t *testing.T, names ...string) (*zktest.Server, map[string]*Process, func()) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	require.NoError(t, srv.Create("/live", nil))
	stage := Stage{Client: curatortest.Connect(t, srv), Servers: srv.Addr()}
	workers, stop, err := stage.Start(names...)
	require.NoError(t, err)
	t.Cleanup(stop)
	require.NoError(t, srv.WaitChildren(t.Context(), "/live", len(names)))
	return srv, workers, stop
}

// A worker that is asked to stop closes its session. So does one whose parent
// is gone, which it knows by the end of its input, too.
func TestStop(t *testing.T) {
	srv, workers, stop := startWorkers(t, brave, "braver")
	stop()
	require.Len(t, srv.Tree(), 1, "the parent is left")
	for _, p := range workers {
		require.Equal(t, AsExpected, p.cmd.ProcessState.ExitCode())
	}
}

// A worker that is killed leaves its session behind.
func TestKill(t *testing.T) {
	srv, workers, stop := startWorkers(t, brave)
	workers[brave].Kill()
	require.Len(t, srv.Tree(), 2)
	require.Equal(t, -1, workers[brave].cmd.ProcessState.ExitCode())
	stop()
}

func TestWorkerThatFails(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	workers, stop, err := Stage{Servers: srv.Addr()}.Start(broken)
	require.NoError(t, err)
	defer stop()
	<-workers[broken].ended
	require.Equal(t, Failed, workers[broken].cmd.ProcessState.ExitCode())
}
