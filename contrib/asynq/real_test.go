package asynq_test

import (
	"context"
	"slices"
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
		tasks := make(chan string, 100) // who has enqueued each
		// lead has a process stand for leader until it has enqueued a task.
		lead := func(name string, client *framework.Client) (ended <-chan error) {
			latch, err := leader.NewLatch(client, path)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(w.Patience(t))
			t.Cleanup(stop)
			over := make(chan error, 1)
			opts := asynq.PeriodicTaskManagerOpts{
				RedisConnOpt:               asynq.RedisClientOpt{Addr: redis.Addr()},
				PeriodicTaskConfigProvider: every(eachSecond),
				SchedulerOpts: &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel, PostEnqueueFunc: func(_ *asynq.TaskInfo, err error) {
					if err != nil {
						name = err.Error()
					}
					tasks <- name
					stop()
				}},
			}
			go func() {
				_ = periodic.Lead(ctx, latch, opts)
				over <- latch.Shutdown(w.Patience(t))
			}()
			return over
		}
		firstEnded := lead("first", w.Observer)
		w.WaitNodes(t, path, 1)
		secondEnded := lead("second", client)
		require.NoError(t, <-firstEnded)
		require.NoError(t, <-secondEnded)
		var order []string
		for len(tasks) > 0 {
			order = append(order, <-tasks)
		}
		require.Equal(t, []string{"first", "second"}, slices.Compact(order))
		w.WaitNodes(t, path, 0)
	})
}
