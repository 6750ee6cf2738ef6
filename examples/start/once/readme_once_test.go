package start

import (
	"context"
	"errors"
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
		if err := once(ctx, job); err != nil {
			log.Print("no report this minute: ", err)
		}
	}
}

// once writes the report, unless another process of the fleet has this minute's run.
func once(ctx context.Context, job *locks.InterProcessMutex) error {
	lease, err := job.TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	log.Print("writing the report") // under lease.WithContext if it takes long
	return nil
}
