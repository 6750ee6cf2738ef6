package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
)

// lateContext ends some time after its deadline, as a context may whose timer
// fires after others that were due at the same time. The work's context is one
// of those.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// endsLate returns a context that ends later than its deadline of a second.
func endsLate(t *testing.T) lateContext {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second+5*time.Millisecond)
	t.Cleanup(cancel)
	return lateContext{ctx, time.Now().Add(time.Second)}
}

// Work that knows the deadline of Lead may return before Lead's context has ended. Lead
// returns the work's error, too.
func TestLeadAtItsDeadlineReturnsTheWorksError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		l := latch(t, c, "/l")
		w.await(t, l)
		ctx, failed := endsLate(t), errors.New("failed")
		err := l.Lead(ctx, func(ctx context.Context) error { <-ctx.Done(); return failed })
		require.ErrorIs(t, err, failed)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "the caller tells its own deadline by its context")
	})
}

// A selector does not stand again after a leadership that its deadline has ended.
func TestRunAtItsDeadlineReturnsTheWorksError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		ctx, failed := endsLate(t), errors.New("failed")
		again := leader.WithRequeue(func(error) bool {
			t.Error("the selector asked whether to stand again")
			return true
		})
		err := leader.NewSelector(c, "/s", again).Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return failed })
		require.Equal(t, failed, err)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "the caller tells its own deadline by its context")
	})
}

// A selector that is granted the leadership when its deadline has passed, and its
// context has not ended yet, does not call work. Run returns an error.
func TestRunThatLeadsAfterItsDeadlineReturnsAnError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.run(t, w.Observer, "/s", 0)
		<-first.leads
		c, _ := w.Connect(t)
		ctx := endsLate(t)
		time.AfterFunc(time.Second+2*time.Millisecond, func() { first.stop() })
		err := leader.NewSelector(c, "/s").Run(ctx, func(context.Context) error {
			t.Error("work was called")
			return nil
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.NothingLeft(t, "/s")
	})
}
