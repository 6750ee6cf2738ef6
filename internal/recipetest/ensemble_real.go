//go:build real

package recipetest

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// PeerTimeout is how long the servers of an ensemble wait for one another. A
// partitioned server still answers its clients for that long.
const PeerTimeout = peerTicks * 100 * time.Millisecond // zkserver's default tick

const peerTicks = 60

// NewEnsembleWorld returns an ensemble of three real servers, which no other test
// uses at the same time. The test is parallel from here on.
func NewEnsembleWorld(t *testing.T, opts ...zkserver.Option) (*World, *zkserver.Ensemble) {
	t.Helper()
	t.Parallel()
	realEnsembles.enter(t)
	opts = append([]zkserver.Option{zkserver.WithLinks(), zkserver.WithSyncLimit(peerTicks)}, opts...)
	e := zkserver.BorrowEnsemble(t, 3, opts...)
	w := &World{Addr: e.ConnectString(), Dial: (&net.Dialer{}).DialContext, Session: LongSession}
	w.Observer, _ = w.Connect(t)
	return w, e
}

// ConnectTo returns a client whose connection string names only one server.
func (w *World) ConnectTo(
	t *testing.T, s *zkserver.Server, session time.Duration, opts ...framework.Option,
) *framework.Client {
	t.Helper()
	at := *w
	at.Addr, at.Session = s.Addr(), session
	c, _ := at.Connect(t, opts...)
	return c
}

// ConnectFirstTo returns a client that is connected to this server, and whose
// connection string names all servers.
func (w *World) ConnectFirstTo(t *testing.T, s *zkserver.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	var connected atomic.Bool
	at := *w
	at.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !connected.Load() && address != s.Addr() {
			return nil, errors.New("another server must be the first")
		}
		nc, err := w.Dial(ctx, network, address)
		if err == nil {
			connected.Store(true)
		}
		return nc, err
	}
	c, _ := at.Connect(t, opts...)
	return c
}

// Roles returns the leader of the ensemble, and the followers.
func (w *World) Roles(t *testing.T, e *zkserver.Ensemble) (leader *zkserver.Server, followers []*zkserver.Server) {
	t.Helper()
	leader, err := e.WaitLeader(w.Patience(t))
	require.NoError(t, err)
	for _, s := range e.Members() {
		if s != leader {
			followers = append(followers, s)
		}
	}
	return leader, followers
}
