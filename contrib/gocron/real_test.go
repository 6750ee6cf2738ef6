package gocron_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"

	cron "github.com/gocurator/curator/contrib/gocron"
)

// A scheduler runs a job, and another one finds its lock held. One process leads,
// and then the next one.
func TestSchedulersOnZooKeeper(t *testing.T) {
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		ctx, root := w.Patience(t), recipetest.Path(t)
		client, _ := w.Connect(t)
		locker, other := cron.NewLocker(w.Observer, root, time.Hour), cron.NewLocker(client, root, time.Hour)
		scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, scheduler.Shutdown()) })
		token := make(chan int64, 1)
		work := locker.UnderLock("job", func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
			token <- lease.FencingToken()
			return nil
		})
		_, err = scheduler.NewJob(gocron.DurationJob(time.Hour), gocron.NewTask(work), gocron.WithName("job"),
			gocron.WithStartAt(gocron.WithStartImmediately()))
		require.NoError(t, err)
		scheduler.Start()
		require.NotZero(t, <-token)
		_, err = other.Lock(ctx, "job")
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		leads, err := leader.NewLatch(w.Observer, root+"/leader")
		require.NoError(t, err)
		_, err = leads.WaitLeadership(ctx)
		require.NoError(t, err)
		require.NoError(t, cron.NewElector(leads).IsLeader(ctx))
		next, err := leader.NewLatch(client, root+"/leader")
		require.NoError(t, err)
		require.ErrorIs(t, cron.NewElector(next).IsLeader(ctx), cron.ErrNotLeader)
		require.NoError(t, leads.Shutdown(ctx))
		require.ErrorIs(t, cron.NewElector(leads).IsLeader(ctx), cron.ErrNotLeader)
		_, err = next.WaitLeadership(ctx)
		require.NoError(t, err)
		require.NoError(t, cron.NewElector(next).IsLeader(ctx))
		require.NoError(t, next.Shutdown(ctx))
	})
}
