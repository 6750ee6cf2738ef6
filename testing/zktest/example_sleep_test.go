package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A service holds a lock on a machine that is suspended, for
// longer than its session lasts? Here a laptop sleeps for an hour while the
// second page is being printed, and wakes up without a network. Somebody else
// has the lock by then. The service cannot stop before it wakes; it has to
// stop soon after.
func TestExampleOfASuspendedMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		laptop := srv.NewHost()
		client, err := framework.New(srv.Addr(), framework.WithDialer(laptop.Dialer()),
			insider.WithSuspendClock(zkinside.Suspended(laptop)).(framework.Option)) // the machine's own, in production
		require.NoError(t, err)
		defer client.Close()

		var woken time.Time
		err = printReport(t.Context(), client, func(ctx context.Context, page int) error {
			if page < 2 {
				return nil
			}
			laptop.Isolate() // else it would hear from the server what it has missed
			laptop.Suspend(time.Hour)
			require.Empty(t, srv.Children("/locks/report")) // the lock is free for others
			woken = time.Now()
			<-ctx.Done()
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.ErrorContains(t, err, "page 2")
		require.LessOrEqual(t, time.Since(woken), time.Second)

		laptop.Heal()
		err = printReport(t.Context(), client, func(context.Context, int) error { return nil })
		require.NoError(t, err, "the next attempt, in a new session")
	})
}
