package start

import (
	"context"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
)

func run(ctx context.Context, client *framework.Client) error {
	latch, err := leader.NewLatch(client, "/leaders/billing")
	if err != nil {
		return err
	}
	defer latch.Shutdown(context.WithoutCancel(ctx)) // the next candidate leads at once

	return latch.Lead(ctx, func(ctx context.Context) error {
		log.Print("this process leads")
		<-ctx.Done() // the work
		log.Print("this process leads no more: ", context.Cause(ctx))
		return nil
	})
}
