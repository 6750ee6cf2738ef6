package barriers_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNoMember(t *testing.T) {
	for name, use := range map[string]func(ctx context.Context, c *framework.Client) error{
		"gate": func(ctx context.Context, c *framework.Client) error {
			b := barriers.NewBarrier(c, "/b")
			defer b.Lower(ctx)
			if _, err := b.Raise(ctx); err != nil {
				return err
			}
			if _, _, err := b.Raised(ctx); err != nil {
				return err
			}
			if err := b.Lower(ctx); err != nil {
				return err
			}
			return b.Wait(ctx)
		},
		"rendezvous": enterAndLeave(),
		"Curator's":  enterAndLeave(barriers.WithCuratorLayout()),
	} {
		t.Run(name, func(t *testing.T) {
			recipetest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error { return use(ctx, c) },
				"/d/ready") // of Curator's layout: the others may have entered by then
		})
	}
}

func enterAndLeave(opts ...barriers.Option) func(ctx context.Context, c *framework.Client) error {
	return func(ctx context.Context, c *framework.Client) error {
		p, err := barriers.NewDoubleBarrier(c, "/d", 1, opts...).Enter(ctx)
		if err != nil {
			return err
		}
		return p.Leave(ctx)
	}
}
