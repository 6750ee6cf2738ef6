package asynq_test

import (
	"context"
	"os"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	periodic "github.com/gocurator/curator/contrib/asynq"
)

// schedule is what README tells people to write.
func schedule(ctx context.Context, client *framework.Client, tasks asynq.PeriodicTaskConfigProvider) error {
	latch, err := leader.NewLatch(client, "/tasks/leader")
	if err != nil {
		return err
	}
	defer latch.Shutdown(context.WithoutCancel(ctx))
	return periodic.Lead(ctx, latch, asynq.PeriodicTaskManagerOpts{
		RedisConnOpt:               asynq.RedisClientOpt{Addr: os.Getenv("REDIS")},
		PeriodicTaskConfigProvider: tasks,
	})
}

// stopping is a provider that ends a context when it is asked.
type stopping struct {
	every
	stop context.CancelFunc
}

func (s stopping) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	defer s.stop()
	return s.every.GetConfigs()
}

func TestCodeOfTheReadme(t *testing.T) {
	t.Setenv("REDIS", miniredis.RunT(t).Addr())
	client := curatortest.Connect(t, zktest.Start(t))
	ctx, stop := context.WithCancel(t.Context())
	require.ErrorIs(t, schedule(ctx, client, stopping{eachMinute, stop}), context.Canceled)
}
