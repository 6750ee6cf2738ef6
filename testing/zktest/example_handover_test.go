package zktest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// term is how long somebody believed to lead.
type term struct {
	leader     string
	start, end time.Duration
}

// election is the code under test, and writes down who led when. The holder of
// the lock is the leader.
type election struct {
	began time.Time

	mu    sync.Mutex
	terms []term
}

// run lets a candidate lead whenever it can, until ctx ends.
func (e *election) run(ctx context.Context, name string, client *framework.Client) {
	for ctx.Err() == nil {
		lease, err := locks.NewInterProcessMutex(client, "/leader").Acquire(ctx)
		if err != nil {
			continue // after ErrSessionLost the client has, or gets, a new session
		}
		start := time.Since(e.began)
		<-lease.Context().Done() // leads until it may not any more
		e.mu.Lock()
		e.terms = append(e.terms, term{name, start, time.Since(e.began)})
		e.mu.Unlock()
	}
}

// A leader that is cut off from the ensemble has to stop before another one
// begins, although nothing reaches it. The test takes half a minute of virtual
// time, and milliseconds of real time.
func TestExampleOfALeaderHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		connect := func(host *zktest.Host) *framework.Client {
			client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(9*time.Second))
			require.NoError(t, err)
			require.NoError(t, client.WaitConnected(t.Context()))
			return client
		}
		datacenter := srv.NewHost()
		vienna, oslo := connect(datacenter), connect(srv.NewHost())

		ctx, stop := context.WithCancel(t.Context())
		e := &election{began: time.Now()}
		var candidates sync.WaitGroup
		candidates.Go(func() { e.run(ctx, "vienna", vienna) })
		require.NoError(t, srv.WaitChildren(ctx, "/leader", 1))
		candidates.Go(func() { e.run(ctx, "oslo", oslo) })
		require.NoError(t, srv.WaitChildren(ctx, "/leader", 2))

		time.Sleep(10 * time.Second)
		datacenter.Isolate() // the leader's packets go nowhere, and none come
		time.Sleep(20 * time.Second)
		stop()
		vienna.Close()
		oslo.Close()
		candidates.Wait()

		require.Equal(t, "vienna", e.terms[0].leader)
		require.Equal(t, "oslo", e.terms[1].leader)
		require.Less(t, e.terms[0].end, e.terms[1].start, "nobody leads beside another")
		require.Greater(t, e.terms[0].end, 10*time.Second)
		require.Less(t, e.terms[1].start, 20*time.Second, "the session of 9 s has ended")
	})
}
