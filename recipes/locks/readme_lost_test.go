package locks_test

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

func TestReportStopsWhenTheLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		mutex := locks.NewInterProcessMutex(client, "/locks/nightly-report")
		err := mutex.Do(t.Context(), func(ctx context.Context) error {
			host.LoseSessions() // no network until the session is over
			<-ctx.Done()        // the work goes on until it is told to stop
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, framework.ErrSessionLost)
	})
}
