package start

import (
	"context"
	"log"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func run(ctx context.Context, client *framework.Client) error {
	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42")
	return mutex.Do(ctx, func(ctx context.Context) error {
		log.Print("holding the lock")
		select {
		case <-time.After(10 * time.Second): // the work
			return nil
		case <-ctx.Done(): // the lock is lost, or the program is told to stop
			return context.Cause(ctx)
		}
	})
}
