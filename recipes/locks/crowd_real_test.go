//go:build real

package locks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Readers have a node each. The test runs in real time, because it is about the
// client's load: that load must not cost the client its session.
func TestTwoThousandReadersKeepTheirSession(t *testing.T) {
	n := thorough.Size(2000, 300)
	srv := zktest.Start(t)
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithSessionTimeout(15*time.Second))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bystander := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/bystander"))
	first := hold(t, ctx, locks.NewInterProcessReadWriteLock(c, "/rw").WriteLock())
	var all sync.WaitGroup
	for range n {
		all.Go(func() { cycle(t, ctx, readLock(c, "/rw")) })
	}
	require.NoError(t, srv.WaitChildren(ctx, "/rw", n+1))
	require.NoError(t, first.Release(ctx))
	all.Wait()
	require.NoError(t, bystander.Context().Err())
	require.EqualValues(t, 1, sessionNumber(t, c))
	require.Less(t, srv.CountRequests(zktest.OpMulti), n/10, "there is nothing in doubt")
	require.NoError(t, bystander.Release(ctx))
}
