package moving

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// serveUntilLost works on jobs until the lock is lost, or no more jobs come.
func serveUntilLost(ctx context.Context, client *framework.Client, jobs <-chan func(context.Context)) error {
	lease, err := locks.NewInterProcessMutex(client, "/locks/worker").Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	work, done := lease.WithContext(ctx)
	defer done()
	for {
		select {
		case <-work.Done(): // Consul's channel of a lost lock
			return context.Cause(work)
		case job, more := <-jobs:
			if !more {
				return nil
			}
			job(work)
		}
	}
}

func TestServeUntilLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		jobs := make(chan func(context.Context), 1)
		jobs <- func(context.Context) { host.LoseSessions() }
		require.ErrorIs(t, serveUntilLost(t.Context(), client, jobs), framework.ErrSessionLost)
	})
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		jobs := make(chan func(context.Context))
		close(jobs)
		require.NoError(t, serveUntilLost(t.Context(), client, jobs))
	})
}
