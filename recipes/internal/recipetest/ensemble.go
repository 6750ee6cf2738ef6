package recipetest

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zkserver"
)

// PeerTimeout is how long servers of realEnsemble wait for one another. A
// server that is cut off from the others still answers its clients for that
// long.
const PeerTimeout = 6 * time.Second

// realEnsemble is started by the first test that needs it and serves all of
// them.
var realEnsemble sharedEnsemble

type sharedEnsemble struct {
	once     sync.Once
	ensemble *zkserver.Ensemble
}

// get returns an ensemble of three servers that all serve, whatever the last
// test has done to them.
func (s *sharedEnsemble) get(t *testing.T) *zkserver.Ensemble {
	t.Helper()
	s.once.Do(func() {
		s.ensemble = zkserver.StartEnsemble(sharedTB{t}, 3, zkserver.WithLinks(),
			zkserver.WithQuorumTimeouts(10*time.Second, PeerTimeout))
	})
	if s.ensemble == nil {
		t.Skip("no real ZooKeeper: see the first skipped test")
	}
	require.NoError(t, s.ensemble.Mend())
	for _, srv := range s.ensemble.Servers {
		if _, err := srv.Mode(t.Context()); err != nil {
			require.NoError(t, s.ensemble.Restart())
			break
		}
	}
	return s.ensemble
}

func (s *sharedEnsemble) close() {
	if s.ensemble != nil {
		s.ensemble.Close()
	}
}

// LongSession is the session timeout of clients that are to keep their
// session, whatever happens to servers.
const LongSession = 20 * time.Second

// NewEnsembleWorld returns the ensemble of three real servers that all tests of
// a package share.
func NewEnsembleWorld(t *testing.T) (*World, *zkserver.Ensemble) {
	e := realEnsemble.get(t)
	w := &World{Addr: e.ConnectString(), Dial: (&net.Dialer{}).DialContext, Session: LongSession}
	w.Observer, _ = w.Connect(t)
	return w, e
}

// ConnectTo returns a client that knows one server only.
func (w *World) ConnectTo(t *testing.T, s *zkserver.Server, session time.Duration, opts ...framework.Option) *framework.Client {
	t.Helper()
	at := *w
	at.Addr, at.Session = s.Addr(), session
	c, _ := at.Connect(t, opts...)
	return c
}

// ConnectFirstTo returns a client that is connected to this server, and knows
// all.
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

// Roles returns the leader of the ensemble, and those that follow it.
func (w *World) Roles(t *testing.T, e *zkserver.Ensemble) (leader *zkserver.Server, followers []*zkserver.Server) {
	t.Helper()
	leader, err := e.Leader(w.Patience(t))
	require.NoError(t, err)
	for _, s := range e.Servers {
		if s != leader {
			followers = append(followers, s)
		}
	}
	return leader, followers
}
