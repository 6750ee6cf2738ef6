package cache_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// An ensemble is set back to a state in which the root was written less often. The
// cache is set back as well, and goes on.
//
// Promise: A cache goes on when the ensemble was set back to an older state.
func TestEnsembleThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, restored := zktest.Start(t), zktest.Start(t)
		for _, srv := range []*zktest.Server{now, restored} {
			create(t, srv, "/r", "/r/a")
		}
		srv := now
		client := connect(t, now, framework.WithDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return srv.Dialer()(ctx, network, srv.Addr())
		}))
		for range 50 {
			require.NoError(t, now.Set("/r", []byte("new")))
		}
		c := open(t, client, "/r")
		srv = restored
		now.Stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, c.Err())
		require.NoError(t, restored.Set("/r", []byte("old")))
		require.NoError(t, restored.Create("/r/b", nil))
		synctest.Wait()
		require.NoError(t, c.Err())
		require.Equal(t, []string{"/r", "/r/a", "/r/b"}, paths(c))
		n, _ := c.Get("/r")
		require.Equal(t, "old", string(n.Data))
	})
}
