package gocron_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/zktest"

	cron "github.com/gocurator/curator/contrib/gocron"
)

// connectExample returns a client of a server in this process. A service would
// name its ensemble instead: framework.New("zk1:2181,zk2:2181,zk3:2181").
func connectExample() (client *framework.Client, done func()) {
	srv, err := zktest.Run()
	if err != nil {
		panic(err)
	}
	client, err = framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); srv.Close() }
}

// A report is written once a minute, by one process of the fleet.
func Example() {
	client, done := connectExample()
	defer done()

	locker := cron.NewLocker(client, "/cron", 50*time.Second)
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		panic(err)
	}
	written := make(chan struct{})
	report := locker.UnderLock("report", func(ctx context.Context) error { // ctx ends if the lock is lost
		fmt.Println("a report")
		close(written)
		return nil
	})
	scheduler.NewJob(gocron.DurationJob(time.Minute), gocron.NewTask(report), gocron.WithName("report"), gocron.WithStartAt(gocron.WithStartImmediately()))
	scheduler.Start()
	defer scheduler.Shutdown()
	<-written
	// Output: a report
}

// All jobs of the fleet run in one process, as long as the process leads.
func ExampleElector() {
	client, done := connectExample()
	defer done()
	latch, err := leader.NewLatch(client, "/cron/leader")
	if err != nil {
		panic(err)
	}
	defer latch.Shutdown(context.Background())
	latch.WaitLeadership(context.Background())

	elector := cron.NewElector(latch)
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		panic(err)
	}
	swept := make(chan struct{})
	sweep := elector.UnderLeadership(func(ctx context.Context) error { // ctx ends if the leadership is lost
		fmt.Println("swept")
		close(swept)
		return nil
	})
	scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(sweep))
	scheduler.Start()
	defer scheduler.Shutdown()
	<-swept
	// Output: swept
}
