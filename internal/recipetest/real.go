//go:build real

package recipetest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
)

// Each server is a JVM, whose start costs as much as many tests. So there are few
// servers, and tests take turns: a test gets the server of an earlier test.
const (
	parallelServers   = 2
	parallelEnsembles = 1
)

var (
	realServers   = make(turns, parallelServers)
	realEnsembles = make(turns, parallelEnsembles)
)

func init() { closeShared = append(closeShared, zkserver.CloseShared) }

// turns is a channel with one place for each concurrent test.
type turns chan struct{}

// enter waits for a turn, which lasts until the end of the test.
func (s turns) enter(t *testing.T) {
	s <- struct{}{}
	t.Cleanup(func() { <-s })
}

// onReal runs a scenario on real ZooKeeper, as a subtest.
func onReal(t *testing.T, scenario func(t *testing.T, w *World)) {
	t.Helper()
	t.Run("real", func(t *testing.T) { scenario(t, NewReal(t)) })
}

// NewReal is [BorrowServer] with clients.
func NewReal(t *testing.T) *World {
	t.Helper()
	return Real(t, BorrowServer(t))
}

// BorrowServer returns a real server, which no other test uses at the same time.
func BorrowServer(t *testing.T) *zkserver.Server {
	t.Helper()
	realServers.enter(t)
	return zkserver.Borrow(t)
}

// Real returns a real server.
func Real(t *testing.T, srv *zkserver.Server) *World {
	w := &World{
		Addr:    srv.Addr(),
		Dial:    (&net.Dialer{}).DialContext,
		Session: LongSession,
		Stop:    func() { require.NoError(t, srv.Stop()) },
		Start:   func() { require.NoError(t, srv.Restart()) },
		Watches: func() int {
			n, err := srv.WatchCount(t.Context())
			require.NoError(t, err)
			return n
		},
	}
	w.Observer, _ = w.Connect(t)
	return w
}
