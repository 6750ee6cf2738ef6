package start

import (
	"context"
	"log"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func run(ctx context.Context, client *framework.Client) error {
	job := locks.NewInterProcessMutex(client, "/jobs/report",
		locks.WithReleasePolicy(locks.ReleasePolicy{MinimumHold: 50 * time.Second}))
	for nextMinute(ctx) {
		lease, err := job.TryAcquire(ctx)
		if err != nil {
			log.Print("no report here: ", err) // for example, another process has this minute's run
			continue
		}
		log.Print("writing the report") // under lease.WithContext if it takes long
		lease.Release(ctx)
	}
	return nil
}

// nextMinute waits for the next full minute. It returns false if ctx is done first.
func nextMinute(ctx context.Context) bool {
	minute, stop := context.WithDeadline(ctx, time.Now().Truncate(time.Minute).Add(time.Minute))
	defer stop()
	<-minute.Done()
	return ctx.Err() == nil
}
