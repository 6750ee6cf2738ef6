package asynq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/zktest"

	periodic "github.com/gocurator/curator/contrib/asynq"
)

// reports is a provider with one task. A service may read them from a database.
type reports struct{}

func (reports) GetConfigs() ([]*asynq.PeriodicTaskConfig, error) {
	return []*asynq.PeriodicTaskConfig{{Cronspec: "@every 1s", Task: asynq.NewTask("report", nil)}}, nil
}

// Each process of a fleet does this, and one of them enqueues the task.
func ExampleLead() {
	redis, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer redis.Close()
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	// A service would name its ensemble: framework.New("zk1:2181,zk2:2181,zk3:2181").
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	latch, err := leader.NewLatch(client, "/tasks/leader")
	if err != nil {
		panic(err)
	}
	defer latch.Shutdown(context.Background())

	ctx, stop := context.WithCancel(context.Background()) // a service: signal.NotifyContext
	var once sync.Once
	err = periodic.Lead(ctx, latch, asynq.PeriodicTaskManagerOpts{
		RedisConnOpt:               asynq.RedisClientOpt{Addr: redis.Addr()},
		PeriodicTaskConfigProvider: reports{},
		SchedulerOpts: &asynq.SchedulerOpts{
			LogLevel: asynq.FatalLevel,
			PostEnqueueFunc: func(task *asynq.TaskInfo, err error) {
				once.Do(func() { fmt.Println(task.Type, err) }) // a slow machine enqueues another one
				stop()
			},
		},
	})
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// report <nil>
	// true
}
