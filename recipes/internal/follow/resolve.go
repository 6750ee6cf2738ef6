package follow

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
)

// Fate is what has become of a write whose reply was lost.
type Fate int

// The fates of a write.
const (
	Unknown Fate = iota
	Applied
	NotApplied
)

// Resolve makes a write. If the reply is lost, Resolve reads what has become of the
// write, and makes it again if it was not applied. If the read does not tell either,
// or fails, the error is the one of the write, which matches
// framework.ErrOutcomeUnknown. A write on which servers hang up is not made again: each
// attempt interrupts all other requests of the client. If it was not applied, the error
// is the *framework.HangUpError alone.
//
// ctx is pinned to one session. There, no server applies the write after the
// transaction that precedes the read: a sync would be no barrier at a leader. In
// the next session, a server still may. So Resolve reads through outages, and ends
// with the session.
func Resolve(
	ctx context.Context, c *framework.Client,
	write func(ctx context.Context) error, read func(ctx context.Context) (Fate, error),
) error {
	unapplied := pauses.Vanished()
	for {
		err := write(ctx)
		if !reason.Is(err, framework.ErrOutcomeUnknown) || ctx.Err() != nil {
			return err
		}
		fate := Unknown
		outages := Recovery{Client: c, Ends: isNoOutage}
		readErr := outages.Until(ctx, func(ctx context.Context) (err error) {
			if err = c.SyncQuorum(ctx); err == nil {
				fate, err = read(ctx)
			}
			return err
		})
		switch {
		case readErr != nil:
			return fmt.Errorf("%w (and then: %w)", err, readErr)
		case fate == Applied:
			return nil
		case fate == Unknown:
			return err
		}
		var hangUp *framework.HangUpError
		if reason.As(err, &hangUp) {
			return hangUp
		}
		// A server may answer at once that it has failed, time and again. If ctx has
		// ended, the next attempt says so.
		_ = Pause(ctx, c, &unapplied)
	}
}

func isNoOutage(err error) bool { return Judge(err) != Outage }
