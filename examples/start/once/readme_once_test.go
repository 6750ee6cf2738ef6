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
	for {
		next := time.Now().Truncate(time.Minute).Add(time.Minute)
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return nil
		}
		lease, err := job.TryAcquire(ctx)
		if err != nil {
			log.Print("no report here: ", err) // for example, another process has this minute's run
			continue
		}
		log.Print("writing the report") // under lease.WithContext if it takes long
		lease.Release(ctx)
	}
}
