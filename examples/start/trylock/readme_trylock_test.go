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
	mutex := locks.NewInterProcessMutex(client, "/locks/cache-rebuild")
	lease, err := mutex.TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		log.Print("nothing to do: ", err) // err names the holder
		return nil
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx) // works even if ctx is done

	work, stop := lease.WithContext(ctx) // done when the lock is lost, or with ctx
	defer stop()
	return rebuild(work)
}

func rebuild(ctx context.Context) error {
	log.Print("rebuilding the cache")
	select {
	case <-time.After(10 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
