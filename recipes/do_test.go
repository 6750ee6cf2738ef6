package recipes_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

func TestDoHoldsTheLockWhileTheWorkIsDone(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		broken := errors.New("broken")
		for _, want := range []error{nil, broken} {
			err := m.Do(ctx, func(ctx context.Context) error {
				require.Len(t, w.nodes(t, path), 1)
				require.NoError(t, m.Do(ctx, func(context.Context) error { return nil }), "it re-enters")
				require.NoError(t, ctx.Err())
				return want
			})
			require.ErrorIs(t, err, want)
			require.Empty(t, w.nodes(t, path))
		}
	})
}

func TestDoTellsOfALossThatTheWorkDidNotNotice(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		err := m.Do(ctx, func(ctx context.Context) error {
			w.fake.ExpireSession(c.SessionID())
			<-ctx.Done()
			return nil
		})
		require.ErrorIs(t, err, framework.ErrSessionLost)
	})
}

func TestDoUnderACancelledContextFreesTheLockAndIsNoFailureOfTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		ctx, cancel := context.WithCancel(w.patience(t))
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		require.NoError(t, m.Do(ctx, func(under context.Context) error {
			cancel()
			<-under.Done()
			return nil
		}))
		w.nothingLeft(t, path)
		err := m.Do(ctx, func(context.Context) error { t.Error("not acquired"); return nil })
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestDoReleasesWhenTheWorkPanics(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		require.Panics(t, func() { m.Do(ctx, func(context.Context) error { panic("bug") }) })
		synctest.Wait()
		w.nothingLeft(t, path)
	})
}

// Do returns what the work does, so that it can be compared and asserted, too.
func TestDoReturnsTheErrorOfTheWorkItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		broken := errors.New("broken")
		work := func(context.Context) error { return broken }
		require.True(t, recipes.NewInterProcessMutex(c, path).Do(ctx, work) == broken)
		require.True(t, recipes.NewInterProcessMultiLock(c, []string{path, path + "2"}).Do(ctx, work) == broken)
	})
}
