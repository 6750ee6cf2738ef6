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

	// Failed, if not nil, is called when the looks of a session have ended with
	// an error that the loop gets over, before it waits.
	Failed func()
}

// Run looks until Look returns ErrDone, ctx ends, or an error comes that
// waiting does not cure. When ctx ends, the error is reason.OfContext's.
func (l *Loop) Run(ctx context.Context) error {
	ctx = framework.Extend(l.Client).OnTrouble(ctx, l.Note)
	for {
		err := l.Client.InSession(ctx, l.inSession)
		if reason.Is(err, ErrDone) {
			return nil
		}
		if l.Failed != nil && ctx.Err() == nil && l.judge(err) != End {
			l.Failed()
		}
		if err := l.Wait(ctx, err); err != nil {
			return err
		}
	}
}

func (l *Loop) inSession(ctx context.Context) error {
	s, err := l.Client.Session(ctx)
	for err == nil {
		err = l.Look(ctx, s)
	}
	return err
}
