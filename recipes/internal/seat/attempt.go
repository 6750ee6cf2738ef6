package seat

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Attempt is one acquire: its options, and its trace.
type Attempt struct {
	Wait  bool
	Since time.Time
	Trace *trace.Acquire // may be nil
}

// Traced traces an acquire from its begin to its end, and to the begin of the
// hold. The lease has the values of ctx, and not those that tracing adds for
// the acquire.
func Traced(
	ctx context.Context, a locktrace.Acquire, win func(context.Context, Attempt) (*Hold, error),
) (lease *Lease, err error) {
	since := time.Now()
	during, told := trace.StartAcquire(ctx, a)
	h, err := win(during, Attempt{Wait: !a.Try, Since: since, Trace: told})
	if err != nil {
		told.Ended(EndOf(nil, err))
		return nil, err
	}
	won := h.LeaseOf(ctx)
	defer func() {
		if lease == nil { // a hook has panicked
			won.Release(ctx)
		}
	}()
	told.Ended(EndOf(h, nil))
	h.startTrace(won, a, told)
	return won, nil
}

// EndOf describes the end of an acquire for a tracer. The hold is nil if there
// is none, or there are several.
func EndOf(h *Hold, err error) locktrace.AcquireEnd {
	end := locktrace.AcquireEnd{Outcome: outcomeOf(err), Err: err}
	if h != nil {
		end.Token = h.seat.token
	}
	return end
}

func outcomeOf(err error) locktrace.Outcome {
	switch {
	case err == nil:
		return locktrace.Acquired
	case reason.Is(err, context.DeadlineExceeded):
		return locktrace.TimedOut
	case reason.Is(err, context.Canceled):
		return locktrace.Canceled
	case reason.Is(err, ErrNotAcquired):
		return locktrace.NotAcquired
	default:
		return locktrace.Failed
	}
}
