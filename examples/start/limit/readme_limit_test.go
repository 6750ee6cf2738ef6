package start

import (
	"context"
	"log"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

func run(ctx context.Context, client *framework.Client) error {
	exports := locks.NewInterProcessSemaphore(client, "/exports",
		locks.SharedLimit("/exports-limit", 3)) // 3, until somebody sets another limit
	return exports.Do(ctx, func(ctx context.Context) error {
		log.Print("exporting, as one of three at most")
		select {
		case <-time.After(10 * time.Second): // the work
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}
