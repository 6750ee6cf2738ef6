// Package follow is the loop of everything that follows the tree: it looks, says
// what it has seen, waits for a change, and looks again, through outages and
// losses of the session. It is to followers what package seat is to those
// who queue.
//
//   - [Judge] says what follows an error, for all recipes, and why.
//   - A [Recovery] waits until it is time to try again, logs what lasts, and
//     keeps the last error for those who wait for something else.
//   - A [Loop] looks again and again, in one session after the other.
//   - [Reads] read many nodes with few requests.
//   - A [Life] is for what is started and ends: it has one goroutine, one end, and
//     one reason for that.
package follow

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// ErrDone is what Look returns to end the loop without an error.
var ErrDone = errors.New("done")

// Loop follows something in the tree.
type Loop struct {
	Recovery

	// Look looks once, says what it has seen, and waits for a change. It stops
	// its watches. All of it is in one session, with which ctx ends. When all is
	// well, it calls Recovered. An error ends the looks of this session.
	Look func(ctx context.Context, s *framework.Session) error
}

// Run looks until Look returns ErrDone, ctx ends, or an error comes that
// waiting does not cure. When ctx ends, the error is GaveUp's.
func (l *Loop) Run(ctx context.Context) error {
	return l.Until(ctx, func(ctx context.Context) error {
		err := l.Client.InSession(ctx, func(ctx context.Context) error {
			s, err := l.Client.Session(ctx)
			for err == nil {
				err = l.Look(ctx, s)
			}
			return err
		})
		if reason.Is(err, ErrDone) {
			return nil
		}
		return err
	})
}
