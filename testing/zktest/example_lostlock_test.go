package zktest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// printReport is the code under test: what it does takes a while, and it may go
// on only as long as it holds the lock.
func printReport(ctx context.Context, client *framework.Client, print func(ctx context.Context, page int) error) error {
	lease, err := locks.NewInterProcessMutex(client, "/locks/report").Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	work, done := lease.WithContext(ctx)
	defer done()
	for page := 1; page <= 3; page++ {
		if err := print(work, page); err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
	}
	return nil
}

// A service loses its lock in the middle of its work? Here its host loses the
// network while the second page is being printed, for longer than the session
// lasts. The service has to stop before the server gives the lock to the next
// one, although nothing reaches it.
func TestExampleOfALostLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(9*time.Second))
		require.NoError(t, err)
		defer client.Close()

		next := make(chan time.Time, 1) // when somebody else can have the lock
		err = printReport(t.Context(), client, func(ctx context.Context, page int) error {
			if page == 2 {
				require.True(t, host.LoseSessions())
				go func() {
					_ = srv.WaitChildren(t.Context(), "/locks/report", 0)
					next <- time.Now()
				}()
				<-ctx.Done() // the printer works on until it is told to stop
				return context.Cause(ctx)
			}
			return nil
		})
		stopped := time.Now()
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.ErrorContains(t, err, "page 2")
		require.True(t, stopped.Before(<-next), "nobody prints beside another")

		err = printReport(t.Context(), client, func(context.Context, int) error { return nil })
		require.NoError(t, err, "the next attempt, in a new session")
	})
}
