package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
)

var lingeringSeeds = recipetest.SeedFlags("lingering", 20)

// Leaders take their time to stop, and machines come back when their sessions
// are just lost. If each work stops within the safety margin, no two overlap.
func TestWorkOfLeadersDoesNotOverlap(t *testing.T) {
	t.Parallel()
	standing := func(lead func(ctx context.Context, l *leader.Latch, r *recipetest.Room)) recipetest.Contend {
		return func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
			l, err := leader.NewLatch(c, "/l")
			if err != nil {
				return // the client was closed
			}
			defer l.Shutdown(context.WithoutCancel(ctx))
			for ctx.Err() == nil {
				lead(ctx, l, r)
			}
		}
	}
	for name, contend := range map[string]recipetest.Contend{
		"Lead": standing(func(ctx context.Context, l *leader.Latch, r *recipetest.Room) {
			l.Lead(ctx, func(ctx context.Context) error {
				r.Work(ctx, 1)
				return nil
			})
		}),
		"Lead, handed over": standing(func(ctx context.Context, l *leader.Latch, r *recipetest.Room) {
			l.Lead(ctx, func(ctx context.Context) error {
				handing := time.AfterFunc(5*time.Second, func() { l.HandOver(context.WithoutCancel(ctx)) })
				defer handing.Stop()
				r.Work(ctx, 1)
				return nil
			})
		}),
		"WaitLeadership": standing(func(ctx context.Context, l *leader.Latch, r *recipetest.Room) {
			lease, err := l.WaitLeadership(ctx)
			if err != nil {
				return
			}
			r.Work(lease.Context(), 1)
			if lease.Context().Err() == nil {
				lease.Release(ctx)
			}
		}),
		"WaitLeadership and Release": standing(func(ctx context.Context, l *leader.Latch, r *recipetest.Room) {
			if lease, err := l.WaitLeadership(ctx); err == nil {
				r.Work(lease.Context(), 1)
				lease.Release(ctx)
			}
		}),
		"selector": func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
			leader.NewSelector(c, "/l", always()).Run(ctx, func(ctx context.Context) error {
				r.Work(ctx, 1)
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) { recipetest.StopsWithinTheMargin(t, lingeringSeeds, 1, contend) })
	}
}
