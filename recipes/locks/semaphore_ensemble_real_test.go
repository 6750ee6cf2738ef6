//go:build real

package locks_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// Curator tests this in TestInterProcessSemaphoreCluster#testCluster. No
// lease is granted while the ensemble is down. Two of its three servers are
// enough.
func TestSemaphoreGoesOnWithAMajorityOfTheEnsemble(t *testing.T) {
	const clients, limit = 20, 3
	w, ensemble := newEnsembleWorld(t)
	path := recipetest.Path(t)
	ctx, stop := context.WithCancel(w.Patience(t))
	var acquired, held atomic.Int64
	var all sync.WaitGroup
	for range clients {
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(limit))
		all.Go(func() {
			for ctx.Err() == nil {
				lease, err := s.Acquire(ctx)
				if err != nil {
					continue // ctx has ended, or the wait for progress fails the test
				}
				if now := held.Add(1); now > limit {
					t.Error("too many: ", now)
				}
				acquired.Add(1)
				held.Add(-1)
				lease.Release(ctx)
			}
		})
	}
	progress := func(before int64) func() bool { return func() bool { return acquired.Load() >= before+2*clients } }
	require.Eventually(t, progress(0), time.Minute, 10*time.Millisecond)

	atOnce(t, ensemble.Members(), (*zkserver.Server).Kill)
	before := acquired.Load()
	require.Never(t, func() bool { return acquired.Load() > before+limit }, time.Second, 10*time.Millisecond,
		"what was granted when the last server died is all")

	atOnce(t, ensemble.Members()[:2], (*zkserver.Server).Restart)
	require.Eventually(t, progress(acquired.Load()), time.Minute, 10*time.Millisecond)
	stop()
	all.Wait()
	w.WaitNodes(t, path+"/locks", 0)
	w.WaitNodes(t, path+"/leases", 0)
}

// atOnce does something to several servers at the same time, because a server
// that restarts does not serve without a majority.
func atOnce(t *testing.T, servers []*zkserver.Server, do func(*zkserver.Server) error) {
	t.Helper()
	errs := make(chan error, len(servers))
	for _, s := range servers {
		go func() { errs <- do(s) }()
	}
	for range servers {
		require.NoError(t, <-errs)
	}
}

// Curator tests this in
// TestInterProcessSemaphoreCluster#testKilledServerWithEnsembleProvider. New
// servers replace those of the ensemble, and know nothing of the old sessions
// and nodes. A client that connects to them loses its session. One of the
// clients then gets the lease again.
func TestSemaphoreOnAnEnsembleThatIsReplaced(t *testing.T) {
	const clients = 10
	t.Parallel()
	first, second := recipetest.BorrowServer(t), zkserver.Start(t)
	var servers atomic.Value // addresses of the current servers
	servers.Store(first.Addr())
	ask := func(context.Context) ([]string, error) { return []string{servers.Load().(string)}, nil }
	w := &world{&recipetest.World{Addr: first.Addr(), Dial: (&net.Dialer{}).DialContext, Session: 2 * recipetest.ShortSession}}
	path := recipetest.Path(t)
	ctx, stop := context.WithCancel(w.Patience(t))
	exclusive := locktest.NewExclusive(t)
	holders := make(chan *locks.Lease) // receives the lease of each holder
	var all sync.WaitGroup
	for range clients {
		c, _ := w.Connect(t, framework.WithServers(ask))
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(1))
		all.Go(func() {
			for ctx.Err() == nil {
				lease, err := s.Acquire(ctx)
				if err != nil {
					continue // ctx has ended, or the wait for a holder fails the test
				}
				exclusive.Enter(lease)
				select {
				case holders <- lease:
					<-lease.Context().Done()
				case <-ctx.Done():
				}
				lease.Release(ctx)
			}
		})
	}
	next := func() *locks.Lease {
		select {
		case lease := <-holders:
			return lease
		case <-ctx.Done():
			require.Fail(t, "nobody holds the lease")
			return nil
		}
	}
	old := next()
	require.NoError(t, first.Kill())
	<-old.Context().Done()
	require.ErrorIs(t, context.Cause(old.Context()), framework.ErrSessionLost)

	servers.Store(second.Addr())
	w.Addr = second.Addr()
	w.Observer, _ = w.Connect(t)
	again := next()
	list, err := locks.NewInterProcessSemaphore(w.Observer, path, locks.Limit(1)).Participants(w.Patience(t))
	require.NoError(t, err)
	require.Equal(t, again.Path(), list[0].Path)
	require.NoError(t, again.Context().Err())
	require.NoError(t, again.Release(ctx))
	last := next()
	stop()
	require.NoError(t, last.Release(w.Patience(t)))
	all.Wait()
	w.WaitNodes(t, path+"/locks", 0)
	w.WaitNodes(t, path+"/leases", 0)
}
