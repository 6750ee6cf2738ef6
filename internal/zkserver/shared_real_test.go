//go:build real

package zkserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A test that ends, and one that fails to bring the server back, leave it to
// the next.
func TestSharedServerIsBroughtBack(t *testing.T) {
	var srv *Server
	tb := runFake(func(tb TB) { srv = Shared(tb) })
	require.Empty(t, tb.failed)
	require.Empty(t, tb.cleanups, "the end of a test closes nothing")
	for name, disturb := range map[string]func() error{"paused": srv.Pause, "down": srv.Kill} {
		require.NoError(t, disturb(), name)
		require.Same(t, srv, Shared(t), name)
		_, err := srv.Mode(withTimeout(t, time.Minute))
		require.NoError(t, err, name)
	}
}

func TestBorrowedServerIsForOneTestAtATime(t *testing.T) {
	var servers pool
	first, giveBack := borrowFrom(t, &servers)
	second, _ := borrowFrom(t, &servers)
	require.NotSame(t, first, second, "the first is still in use")

	require.NoError(t, first.Kill())
	giveBack()
	again, giveBack := borrowFrom(t, &servers)
	require.Same(t, first, again)
	_, err := again.Mode(withTimeout(t, time.Minute))
	require.NoError(t, err)

	require.NoError(t, servers.close())
	giveBack()
	require.Empty(t, servers.idle, "a closed server is of no use")
	for _, srv := range []*Server{first, second} {
		require.ErrorIs(t, srv.Restart(), ErrClosed)
	}
	require.NoError(t, servers.close())
}

// borrowFrom borrows a server for a test that ends with giveBack.
func borrowFrom(t *testing.T, servers *pool) (srv *Server, giveBack func()) {
	t.Helper()
	tb := runFake(func(tb TB) { srv = servers.borrow(tb, 0, nil).servers[0] })
	require.Empty(t, tb.failed)
	require.Len(t, tb.cleanups, 1)
	return srv, tb.cleanups[0]
}

func TestBorrowedEnsembleIsMended(t *testing.T) {
	var first *Ensemble
	tb := runFake(func(tb TB) { first = BorrowEnsemble(tb, 3, linked...) })
	require.Empty(t, tb.failed)
	leader, err := first.WaitLeader(withTimeout(t, time.Minute))
	require.NoError(t, err)
	require.NoError(t, first.Partition(leader))
	require.NoError(t, leader.Kill())
	tb.cleanups[0]()
	require.Same(t, first, BorrowEnsemble(t, 3, linked...))
	_, err = leader.Mode(withTimeout(t, time.Minute))
	require.NoError(t, err)
}
