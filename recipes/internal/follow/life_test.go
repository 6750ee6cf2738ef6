package follow_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// What each recipe makes of its life is tested in recipes/life_test.go.

var (
	errOwn  = errors.New("closed")
	errGone = errors.New("gone")
)

func untilEnd(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// inLife runs a test of a life that was started.
func inLife(t *testing.T, l *follow.Life, test func(t *testing.T, c *framework.Client)) {
	t.Helper()
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		l.Client, _ = w.Connect(t)
		l.Closed = errOwn
		require.NoError(t, l.Start())
		test(t, l.Client)
		l.Close()
		require.Error(t, l.Err())
		require.Error(t, l.Over().Err())
		require.True(t, recipetest.IsClosed(l.Gone()))
	})
}

// A life that is over goes on until it is gone: so do the contexts of its run.
//
// Promise: Close of a recipe returns after its last goroutine has ended.
func TestLifeIsOverBeforeItIsGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		rest, ended := make(chan struct{}), make(chan struct{})
		finish := sync.OnceFunc(func() { close(rest) })
		var l follow.Life
		l.Client, _ = w.Connect(t)
		l.Run = func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { close(ended) })
			return errGone
		}
		l.Finish = func(reason error) {
			l.End(reason)
			<-rest
		}
		require.NoError(t, l.Start())
		defer finish()
		synctest.Wait()
		require.ErrorIs(t, l.Err(), errGone)
		require.False(t, l.WaitGone(recipetest.Within(t, time.Second)))
		require.False(t, recipetest.IsClosed(ended))
		finish()
		require.True(t, l.WaitGone(t.Context()))
		synctest.Wait()
		require.True(t, recipetest.IsClosed(ended))
	})
}

// Waits are notified of each change, and of the end.
//
// Promise: The end of a recipe wakes every waiter.
func TestWaitOfALife(t *testing.T) {
	gaveUp := errors.New("gave up")
	l := &follow.Life{Run: untilEnd, GaveUp: func(context.Context) error { return gaveUp }}
	inLife(t, l, func(t *testing.T, _ *framework.Client) {
		asked, n := 0, 0
		waits := func() error {
			return l.Wait(recipetest.Within(t, time.Minute), func() bool { asked++; return n == 2 })
		}
		require.ErrorIs(t, waits(), gaveUp)
		require.Equal(t, 1, asked)
		returned := make(chan error, 1)
		go func() { returned <- waits() }()
		for n < 2 {
			synctest.Wait()
			require.Empty(t, returned)
			n++
			l.Tell()
		}
		require.NoError(t, <-returned)
		require.Equal(t, 4, asked)
		n = 0
		go func() { returned <- waits() }()
		synctest.Wait()
		l.End(errGone)
		require.ErrorIs(t, <-returned, errGone)
		n = 2
		require.NoError(t, waits(), "the condition holds")
	})
}

func TestLifeThatWasNeverStarted(t *testing.T) {
	var l follow.Life
	l.Close()
	require.ErrorContains(t, l.Err(), "never started")
	require.Error(t, l.Wait(t.Context(), func() bool { return false }))
	require.True(t, recipetest.IsClosed(l.Over().Done()))
	require.True(t, recipetest.IsClosed(l.Gone()))
}

// Nothing of a life is called if its client is closed.
func TestLifeOfAClosedClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		require.NoError(t, c.Close())
		l := follow.Life{Client: c, Closed: errOwn, Finish: func(error) { t.Error("called") }}
		require.ErrorIs(t, l.Start(), framework.ErrClosed)
		l.Close()
		require.ErrorIs(t, l.Err(), framework.ErrClosed)
	})
}
