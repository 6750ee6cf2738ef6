package main

import (
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

// toTouch is a lock that is held, for a command that would create a file.
func toTouch(t *testing.T, c *framework.Client, set *settings, signals chan os.Signal) (g *guarded, lease *locks.Lease, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "started")
	stop := defineStopping(&flag.FlagSet{})
	require.NoError(t, stop.plan(set))
	lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { lease.Release(t.Context()) })
	e := &env{streams: streams{os.Stdin, os.Stdout, os.Stderr}, settings: set}
	return &guarded{env: e, client: c, path: "/l", kind: inspect.Mutex, args: []string{"touch", file}, stop: stop, signals: signals}, lease, file
}

// The lock is lost between the grant and the start of the command. It is not
// started.
func TestNothingStartsAfterALoss(t *testing.T) {
	srv := startServer(t)
	set := defaults()
	c, err := framework.Connect(t.Context(), srv.Addr())
	require.NoError(t, err)
	defer c.Close()
	g, lease, file := toTouch(t, c, set, make(chan os.Signal))
	require.True(t, srv.Session(c.SessionID()).Expire())
	<-lease.Context().Done()
	err = g.run(lease)
	require.Equal(t, lost, statusOf(err), "%v", err)
	require.ErrorContains(t, err, "the command was not started")
	require.NoFileExists(t, file)
}

// A signal comes while the start is prepared, which may take as long as an
// outage. The command is not started.
func TestNothingStartsAfterAStop(t *testing.T) {
	srv := startServer(t)
	set := defaults()
	c, err := framework.Connect(t.Context(), srv.Addr())
	require.NoError(t, err)
	defer c.Close()
	signals := make(chan os.Signal, 1)
	g, lease, file := toTouch(t, c, set, signals)
	signals <- syscall.SIGTERM
	err = g.run(lease)
	require.Equal(t, bySignal+int(syscall.SIGTERM), statusOf(err), "%v", err)
	require.NoFileExists(t, file)
	g.linger(lease, time.Hour) // returns at once
}
