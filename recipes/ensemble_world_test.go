package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zkserver"
)

// peerSilence is how long servers of realEnsemble wait for one another. A server that is cut off from the others goes on
// answering its clients as long as that.
const peerSilence = 6 * time.Second

// realEnsemble is started by the first test that needs it and serves all of them.
var realEnsemble sharedEnsemble

type sharedEnsemble struct {
	once     sync.Once
	ensemble *zkserver.Ensemble
}

// get returns an ensemble of three that all serve, whatever the test before has left.
func (s *sharedEnsemble) get(t *testing.T) *zkserver.Ensemble {
	t.Helper()
	s.once.Do(func() {
		s.ensemble = zkserver.StartEnsemble(sharedTB{t}, 3, zkserver.WithLinks(),
			zkserver.WithQuorumTimeouts(10*time.Second, peerSilence))
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

// sturdy is the session timeout of clients that are to keep their session, whatever happens to servers.
const sturdy = 20 * time.Second

func newEnsembleWorld(t *testing.T) (*world, *zkserver.Ensemble) {
	e := realEnsemble.get(t)
	w := &world{addr: e.ConnectString(), dial: (&net.Dialer{}).DialContext, session: sturdy}
	w.observer, _ = w.connect(t)
	return w, e
}

// connectTo returns a client that knows one server only.
func (w *world) connectTo(t *testing.T, s *zkserver.Server, session time.Duration, opts ...framework.Option) *framework.Client {
	t.Helper()
	at := *w
	at.addr, at.session = s.Addr(), session
	c, _ := at.connect(t, opts...)
	return c
}

// connectFirstTo returns a client that is on this server, and knows all.
func (w *world) connectFirstTo(t *testing.T, s *zkserver.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	var connected atomic.Bool
	at := *w
	at.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !connected.Load() && address != s.Addr() {
			return nil, errors.New("another server must be the first")
		}
		nc, err := w.dial(ctx, network, address)
		if err == nil {
			connected.Store(true)
		}
		return nc, err
	}
	c, _ := at.connect(t, opts...)
	return c
}

// roles returns the leader of the ensemble, and those that follow it.
func (w *world) roles(t *testing.T, e *zkserver.Ensemble) (leader *zkserver.Server, followers []*zkserver.Server) {
	t.Helper()
	leader, err := e.Leader(w.patience(t))
	require.NoError(t, err)
	for _, s := range e.Servers {
		if s != leader {
			followers = append(followers, s)
		}
	}
	return leader, followers
}

// throne is what no two may be on at once.
type throne struct {
	mu     sync.Mutex // protects the following fields
	leases []*recipes.Lease
	wrong  []string
}

// newThrone returns one that fails the test at its end if it was shared.
func newThrone(t *testing.T) *throne {
	th := &throne{}
	t.Cleanup(func() {
		th.mu.Lock()
		defer th.mu.Unlock()
		require.Empty(t, th.wrong)
	})
	return th
}

// ascend must be called after the lease has begun.
func (th *throne) ascend(lease *recipes.Lease) {
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, other := range th.leases {
		// Asked in this order: the other is alive, and so was this one at that moment, if it is alive after it.
		if other.Context().Err() == nil && lease.Context().Err() == nil {
			th.wrong = append(th.wrong, fmt.Sprintf("%s leads beside %s", lease.Path(), other.Path()))
		}
	}
	th.leases = append(th.leases, lease)
}

// follow sees to it that the throne knows of all leaderships of a latch, until it is closed.
func (th *throne) follow(t *testing.T, l *recipes.LeaderLatch) {
	changes := l.Changes(context.WithoutCancel(t.Context()))
	go func() {
		for c := range changes {
			if c.Ended == nil {
				th.ascend(c.Lease)
			}
		}
	}()
}

// terms are those of a selector that stands again after each.
type terms struct {
	selector *recipes.LeaderSelector
	began    chan *recipes.Lease // each is told before its end
	ended    chan error          // why
}

// runSelector stands for leader until the end of the test. The work does nothing but to end with its context.
func runSelector(t *testing.T, c *framework.Client, path string, th *throne) *terms {
	ts := &terms{began: make(chan *recipes.Lease, 16), ended: make(chan error, 16)}
	ts.selector = recipes.NewLeaderSelector(c, path, recipes.WithRequeue(func(error) bool { return true }))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() {
		done <- ts.selector.Run(ctx, func(ctx context.Context) error {
			lease, _ := recipes.LeaseFromContext(ctx)
			th.ascend(lease)
			ts.began <- lease
			<-ctx.Done()
			ts.ended <- context.Cause(ctx)
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return ts
}

// begins waits for the next term.
func (ts *terms) begins(t *testing.T, w *world) *recipes.Lease {
	t.Helper()
	select {
	case lease := <-ts.began:
		return lease
	case <-w.patience(t).Done():
		require.Fail(t, "no term has begun")
		return nil
	}
}

// awaitAny waits until one of the latches leads, and returns which.
func (w *world) awaitAny(t *testing.T, latches ...*recipes.LeaderLatch) (int, *recipes.Lease) {
	t.Helper()
	type grant struct {
		who   int
		lease *recipes.Lease
	}
	ctx, cancel := context.WithCancel(w.patience(t))
	defer cancel()
	granted := make(chan grant, len(latches))
	for i, l := range latches {
		go func() {
			lease, _ := l.Await(ctx)
			granted <- grant{i, lease}
		}()
	}
	g := <-granted
	require.NotNil(t, g.lease, "nobody leads")
	return g.who, g.lease
}
