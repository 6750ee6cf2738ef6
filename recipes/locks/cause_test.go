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

// The context of work ends with the error and the cause of the caller's
// context, also at its deadline. It is the same for a context derived from it,
// and at the moment of the end.
func TestWorkEndsWithTheCallersCause(t *testing.T) {
	ends := map[string]func(t *testing.T) (ctx context.Context, err error){
		"deadline": func(t *testing.T) (context.Context, error) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errMaintenance)
			t.Cleanup(cancel)
			return ctx, context.DeadlineExceeded
		},
		"cancelled": func(t *testing.T) (context.Context, error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errMaintenance) })
			return ctx, context.Canceled
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				ctx, err := end(t)
				result := locks.NewInterProcessMutex(c, "/l").Do(ctx, func(work context.Context) error {
					derived, cancel := context.WithCancel(work)
					defer cancel()
					<-derived.Done()
					for _, ctx := range []context.Context{work, derived} {
						require.Equal(t, err, ctx.Err())
						require.ErrorIs(t, context.Cause(ctx), errMaintenance)
						require.EqualError(t, context.Cause(ctx), errMaintenance.Error())
					}
					return context.Cause(work)
				})
				require.ErrorIs(t, result, errMaintenance)
			})
		})
	}
}

// A deadline without a cause is what it is for every context.
func TestWorkEndsAtAPlainDeadline(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := locks.NewInterProcessMutex(c, "/l").Do(ctx, func(work context.Context) error {
			<-work.Done()
			_, _, err := c.Get(work, "/l")
			return err
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "get /l: context deadline exceeded")
	})
}

// Each kind of lock names the caller's cause when it gives up.
func TestAcquireEndsWithTheCallersCause(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // nobody makes it wait
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				rival, _ := w.Connect(t)
				c, _ := w.Connect(t)
				holder := must(kind.blocker(rival)(t.Context()))(t)
				acquire, after := kind.taker(t, c)
				defer after()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errMaintenance)
				defer cancel()
				_, err := acquire(ctx)
				require.ErrorIs(t, err, errMaintenance)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NoError(t, holder.Release(t.Context()))
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

func TestAcquireEndsWithAContextThatHidesItsDeadline(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // nobody makes it wait
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			withOwnDeadlines(t, func(t *testing.T, w *world, ctx context.Context) {
				rival, _ := w.Connect(t)
				c, _ := w.Connect(t)
				holder := must(kind.blocker(rival)(t.Context()))(t)
				acquire, after := kind.taker(t, c)
				defer after()
				begin := time.Now()
				released := time.AfterFunc(time.Minute, func() { holder.Release(context.Background()) })
				_, err := acquire(ctx)
				require.Equal(t, time.Second, time.Since(begin))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, locks.ErrNotAcquired)
				require.True(t, released.Stop())
				require.NoError(t, holder.Release(t.Context()))
				for _, path := range kind.paths {
					w.NothingLeft(t, path)
				}
			})
		})
	}
}

// lateContext ends some time after its deadline, as a context may whose timer
// fires after others that were due at the same time.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// A caller tells its own deadline from others by its context.
func TestAcquireReturnsAtItsDeadlineWhenTheContextHasEnded(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // nobody makes it wait
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				rival, _ := w.Connect(t)
				c, _ := w.Connect(t)
				holder := must(kind.blocker(rival)(t.Context()))(t)
				acquire, after := kind.taker(t, c)
				defer after()
				late, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				early := lateContext{late, time.Now().Add(10*time.Second - 5*time.Millisecond)}
				_, err := acquire(early)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, early.Err(), context.DeadlineExceeded)
				require.NoError(t, holder.Release(t.Context()))
			})
		})
	}
}

// The work of Do has heard of the deadline when the caller's context has not ended
// yet.
func TestDoReturnsAtItsDeadlineWhenTheContextHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		late, cancel := context.WithTimeout(t.Context(), time.Second+5*time.Millisecond)
		defer cancel()
		ctx, failed := lateContext{late, time.Now().Add(time.Second)}, errors.New("failed")
		err := locks.NewInterProcessMutex(c, "/locks/a").Do(ctx, func(ctx context.Context) error { <-ctx.Done(); return failed })
		require.Equal(t, failed, err)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "the caller tells its own deadline by its context")
	})
}
