package periodic_test

import (
	"context"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"

	periodic "github.com/gocurator/curator/contrib/asynq"
)

// The leader enqueues a task, and the next one when that has ended.
func TestManagersOnZooKeeper(t *testing.T) {
	redis := miniredis.RunT(t)
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) {
		path := recipetest.Path(t)
		client, _ := w.Connect(t)
		// lead has a process stand for leader until it has enqueued a task.
		lead := func(client *framework.Client) (enqueued <-chan error, ended <-chan error) {
			latch, err := leader.NewLatch(client, path)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(w.Patience(t))
			t.Cleanup(stop)
			tasks, over := make(chan error, 100), make(chan error, 1)
			opts := asynq.PeriodicTaskManagerOpts{
				RedisConnOpt:               asynq.RedisClientOpt{Addr: redis.Addr()},
				PeriodicTaskConfigProvider: every(eachSecond),
				SchedulerOpts: &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel, PostEnqueueFunc: func(_ *asynq.TaskInfo, err error) {
					tasks <- err
					stop()
				}},
			}
			go func() {
				_ = periodic.Lead(ctx, latch, opts)
				over <- latch.Shutdown(w.Patience(t))
			}()
			return tasks, over
		}
		first, firstEnded := lead(w.Observer)
		w.WaitNodes(t, path, 1)
		second, secondEnded := lead(client)
		require.NoError(t, <-first)
		require.Empty(t, second)
		require.NoError(t, <-firstEnded)
		require.NoError(t, <-second)
		require.NoError(t, <-secondEnded)
		w.WaitNodes(t, path, 0)
	})
}
