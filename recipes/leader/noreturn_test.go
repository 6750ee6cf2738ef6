package leader_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
)

// Every call of the user's code on the goroutine that runs the work does not
// return in turn.
func TestCallThatDoesNotReturnLeavesNoLeader(t *testing.T) {
	work := func(context.Context) error { return nil }
	for name, lead := range map[string]func(ctx context.Context, c *framework.Client) error{
		"selector": func(ctx context.Context, c *framework.Client) error {
			return leader.NewSelector(c, "/l").Run(ctx, work)
		},
		"latch": func(ctx context.Context, c *framework.Client) error {
			l, err := leader.NewLatch(c, "/l")
			if err != nil {
				return err
			}
			defer l.Shutdown(ctx)
			if _, err := l.Leader(ctx); err != nil && ctx.Err() != nil {
				return err
			}
			return l.Lead(ctx, work)
		},
	} {
		t.Run(name, func(t *testing.T) {
			locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error { return lead(ctx, c) })
		})
	}
}
