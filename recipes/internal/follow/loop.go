// Package follow is the loop of everything that follows the tree: it looks, says
// what it has seen, waits for a change, and looks again, through outages and
// losses of the session. It is to followers what package seat is to those
// who queue.
//
//   - [Judge] says what follows an error, for all recipes, and why.
//   - A [Recovery] waits until it is time to try again, logs what lasts, and
//     keeps the last error for those who wait for something else.
//   - [Resolve] makes a write, and finds out what has become of it if the reply is
//     lost.
//   - A [Loop] looks again and again, in one session after the other.
//   - [Reads] read many nodes with few requests.
//   - A [Life] is for what is started and ends: it has one goroutine, one end, and
//     one reason for that.
package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
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
		if err := l.Client.InSession(ctx, l.inSession); !reason.Is(err, ErrDone) {
			return err
		}
		return nil
	})
}

func (l *Loop) inSession(ctx context.Context) error {
	s, err := l.Client.Session(ctx)
	for err == nil {
		err = l.Look(ctx, s)
	}
	return err
}

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
