//go:build real

package zkserver

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestServerLifecycle(t *testing.T) {
	kept := ownPath()
	began := time.Now()
	srv := Borrow(t)
	t.Logf("standalone start: %v", time.Since(began))
	conn := connect(t, srv.Addr())
	create(t, conn, kept)

	require.NoError(t, srv.Restart())
	requireData(t, conn, kept)

	require.NoError(t, srv.Kill())
	requireRefused(t, srv)
	require.NoError(t, srv.Kill(), "killing what does not run is no error")
	require.NoError(t, srv.Restart())
	requireData(t, conn, kept)

	require.NoError(t, srv.Stop())
	requireRefused(t, srv)
	require.ErrorIs(t, srv.Pause(), ErrNotRunning)
}

func requireRefused(t *testing.T, srv *Server) {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Addr())
	if err == nil {
		conn.Close()
	}
	require.Error(t, err)
}

func TestWipedServerStartsAgainWithNothing(t *testing.T) {
	lost := ownPath()
	srv := Borrow(t)
	create(t, connect(t, srv.Addr()), lost)
	require.NoError(t, srv.Wipe())
	requireRefused(t, srv)
	require.NoError(t, srv.Restart())
	there, _, err := connect(t, srv.Addr()).Exists(lost)
	require.NoError(t, err)
	require.False(t, there)
}

func TestCloseIsFinal(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	dir := srv.files.dir
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close())
	require.NoDirExists(t, dir)
	require.ErrorIs(t, srv.Restart(), ErrClosed)
}

func TestCounts(t *testing.T) {
	t.Parallel()
	srv := Start(t)
	ctx := withTimeout(t, time.Minute)
	requireWatches := func(want int) {
		got, err := srv.WatchCount(ctx)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	requireWatches(0)

	conn := connect(t, srv.Addr())
	create(t, conn, "/n")
	_, _, _, err := conn.GetW("/n")
	require.NoError(t, err)
	_, _, _, err = conn.ChildrenW("/n")
	require.NoError(t, err)
	_, _, _, err = conn.ExistsW("/missing")
	require.NoError(t, err)

	requireWatches(3)
}

func TestFourLetter(t *testing.T) {
	t.Parallel()
	srv := Shared(t)
	ctx := withTimeout(t, time.Minute)
	for _, word := range []string{"ruok", "srvr", "mntr", "wchs", "dump", "cons", "conf", "envi"} {
		reply, err := srv.FourLetter(ctx, word)
		require.NoError(t, err, word)
		require.NotEmpty(t, reply, word)
	}
	mode, err := srv.Mode(ctx)
	require.NoError(t, err)
	require.Equal(t, "standalone", mode)
	requireToldID(t, srv)
	require.Zero(t, srv.ID())
	_, err = srv.FourLetter(ctx, "hello")
	require.ErrorContains(t, err, "four-letter")
}

func TestPauseFreezesTheServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("cannot pause")
	}
	srv := Borrow(t)
	require.NoError(t, srv.Pause())
	_, err := srv.FourLetter(withTimeout(t, 200*time.Millisecond), "srvr")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, srv.Resume())
	_, err = srv.FourLetter(withTimeout(t, time.Minute), "srvr")
	require.NoError(t, err)

	require.NoError(t, srv.Pause())
	require.NoError(t, srv.Stop(), "a paused server can be stopped")
}

func TestTTLAndContainerNodesAreRemoved(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithContainerCheckInterval(100*time.Millisecond))
	conn := connect(t, srv.Addr())
	_, err := conn.CreateTTL("/ttl", nil, zk.FlagTTL, zk.WorldACL(zk.PermAll), 50*time.Millisecond)
	require.NoError(t, err)
	_, err = conn.CreateContainer("/container", nil, zk.FlagContainer, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	// A container that never had a child is kept.
	create(t, conn, "/container/child")
	require.NoError(t, conn.Delete("/container/child", -1))

	err = poll(withTimeout(t, time.Minute), nil, func(context.Context) error {
		children, _, err := conn.Children("/")
		if err == nil && len(children) > 1 {
			err = fmt.Errorf("still there: %v", children)
		}
		return err
	})
	require.NoError(t, err)
}

// Another server of this package answers on the port. The answer alone must not
// count.
func TestStartIsNotFooledByAnotherServer(t *testing.T) {
	t.Parallel()
	srv := Shared(t)
	impostor := &Server{member: srv.member, files: layout{"/nowhere/zkserver-other"}}
	require.ErrorIs(t, impostor.checkServing(withTimeout(t, time.Minute)), errPortTaken)
}
