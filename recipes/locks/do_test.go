package locks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestDoHoldsTheLockWhileTheWorkIsDone(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		broken := errors.New("broken")
		for _, want := range []error{nil, broken} {
			err := m.Do(ctx, func(ctx context.Context) error {
				require.Len(t, w.Nodes(t, path), 1)
				require.NoError(t, m.Do(ctx, func(context.Context) error { return nil }), "it re-enters")
				require.NoError(t, ctx.Err())
				return want
			})
			require.ErrorIs(t, err, want)
			require.Empty(t, w.Nodes(t, path))
		}
	})
}

func TestDoTellsOfALossThatTheWorkDidNotNotice(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		err := m.Do(ctx, func(ctx context.Context) error {
			w.Fake.Session(c.SessionID()).Expire()
			<-ctx.Done()
			return nil
		})
		require.ErrorIs(t, err, framework.ErrSessionLost)
	})
}

func TestDoUnderACancelledContextFreesTheLockAndIsNoFailureOfTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx, cancel := context.WithCancel(w.Patience(t))
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		require.NoError(t, m.Do(ctx, func(under context.Context) error {
			cancel()
			<-under.Done()
			return nil
		}))
		w.NothingLeft(t, path)
		err := m.Do(ctx, func(context.Context) error { t.Error("not acquired"); return nil })
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Do returns the very error of the work, so that the caller can also compare
// and assert it.
func TestDoReturnsTheErrorOfTheWorkItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		broken := errors.New("broken")
		work := func(context.Context) error { return broken }
		require.True(t, locks.NewInterProcessMutex(c, path).Do(ctx, work) == broken)
		require.True(t, locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{path, path + "2"})...).Do(ctx, work) == broken)
	})
}
