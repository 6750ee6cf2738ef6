package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

var errMaintenance = errors.New("maintenance begins")

// The context of work ends with the error and the cause of the caller's context,
// and at its deadline with context.DeadlineExceeded. A context derived from it ends
// in the same way.
func TestWorkEndsWithTheCallersCause(t *testing.T) {
	for name, end := range map[string]func(t *testing.T) (ctx context.Context, err, cause error){
		"deadline": func(t *testing.T) (context.Context, error, error) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errMaintenance)
			t.Cleanup(cancel)
			return ctx, context.DeadlineExceeded, context.DeadlineExceeded
		},
		"cancelled": func(t *testing.T) (context.Context, error, error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errMaintenance) })
			return ctx, context.Canceled, errMaintenance
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				ctx, err, cause := end(t)
				result := locks.NewInterProcessMutex(c, "/l").Do(ctx, func(work context.Context) error {
					derived, cancel := context.WithCancel(work)
					defer cancel()
					<-derived.Done()
					for _, ctx := range []context.Context{work, derived} {
						require.Equal(t, err, ctx.Err())
						require.Equal(t, cause, context.Cause(ctx))
					}
					return context.Cause(work)
				})
				require.ErrorIs(t, result, cause)
			})
		})
	}
}

// ownDeadline is a context of the user's own making, which ends with
// context.DeadlineExceeded at another time than its Deadline. A context of a fake
// clock does so, and one that is over when nothing happens for too long.
type ownDeadline struct {
	context.Context
	deadline time.Time // zero if there is none
}

func (c ownDeadline) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// withOwnDeadlines runs a scenario with contexts that end after a second.
func withOwnDeadlines(t *testing.T, scenario func(t *testing.T, w *world, ctx context.Context)) {
	t.Helper()
	for name, after := range map[string]time.Duration{"without a deadline": 0, "before its deadline": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				inner, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				ctx := ownDeadline{Context: inner}
				if after > 0 {
					ctx.deadline = time.Now().Add(after)
				}
				scenario(t, w, ctx)
			})
		})
	}
}

// Promise: Work under a lock ends with its caller's context, even before the deadline that the context reports.
func TestWorkEndsWithAContextThatHidesItsDeadline(t *testing.T) {
	withOwnDeadlines(t, func(t *testing.T, w *world, ctx context.Context) {
		c, _ := w.Connect(t)
		begin := time.Now()
		err := locks.NewInterProcessMutex(c, "/l").Do(ctx, func(work context.Context) error {
			select {
			case <-work.Done():
			case <-time.After(time.Minute):
			}
			return context.Cause(work)
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begin))
	})
}
