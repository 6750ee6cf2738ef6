package barriers

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// again waits until it is time to try again after an error. It reports false if
// waiting does not cure the error, or ctx ends.
func again(ctx context.Context, c *framework.Client, err error) bool {
	switch {
	case ctx.Err() != nil, reason.Is(err, framework.ErrClosed):
		return false
	case reason.Is(err, framework.ErrSessionLost):
		return true // the next session waits for the connection
	case reason.Is(err, framework.ErrOutcomeUnknown):
		return lockloop.WaitReconnect(ctx, c, framework.ErrNotConnected) // pauses
	default:
		return lockloop.WaitReconnect(ctx, c, err)
	}
}

// endedBy returns the error of a call that has failed. If ctx has ended, the
// error matches ctx.Err(), even if another error came first.
func endedBy(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || reason.IsOfContext(ctx, err) {
		return err
	}
	return fmt.Errorf("%w: %w", reason.OfContext(ctx), err)
}
