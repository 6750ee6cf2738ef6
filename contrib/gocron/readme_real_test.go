//go:build real

package gocron_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	cron "github.com/gocurator/curator/contrib/gocron"
)

// reports is what README tells people to write.
func reports(written <-chan struct{}, writeReport func(context.Context) error) error {
	client, err := framework.New(os.Getenv("ZOOKEEPER"))
	if err != nil {
		return err
	}
	defer client.Close()
	locker := cron.NewLocker(client, "/cron", 50*time.Second)
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		return err
	}
	report := locker.UnderLock("report", writeReport) // its context ends if the lock is lost
	_, err = scheduler.NewJob(gocron.DurationJob(time.Minute), gocron.NewTask(report), gocron.WithName("report"))
	if err != nil {
		return err
	}
	scheduler.Start()
	for _, job := range scheduler.Jobs() {
		if err := job.RunNow(); err != nil {
			return err
		}
	}
	<-written // Shutdown would drop a run that has not begun
	return scheduler.Shutdown()
}

// leads is the other half.
func leads(client *framework.Client) error {
	latch, err := leader.NewLatch(client, "/cron/leader")
	if err != nil {
		return err
	}
	elector := cron.NewElector(latch)
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		return err
	}
	scheduler.Start()
	if err := scheduler.Shutdown(); err != nil {
		return err
	}
	return latch.Shutdown(context.Background())
}

func TestCodeOfTheReadme(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	t.Setenv("ZOOKEEPER", srv.Addr())
	client := curatortest.Connect(t, srv)
	written := make(chan struct{})
	require.NoError(t, reports(written, func(ctx context.Context) error {
		close(written)
		return ctx.Err()
	}))
	require.NoError(t, leads(client))
}
