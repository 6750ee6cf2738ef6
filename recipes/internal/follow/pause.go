package follow

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
)

// Pause pauses before the next attempt of a loop that makes requests of a client,
// and returns ctx's error if ctx ends first. If the client is closed meanwhile, the
// pause is over, and the next attempt says so.
func Pause(ctx context.Context, c *framework.Client, g *pauses.Growing) error {
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(framework.Extend(c).Context(), cancel)()
	if g.Wait(open) == nil || ctx.Err() == nil {
		return nil
	}
	return reason.OfContext(ctx)
}
