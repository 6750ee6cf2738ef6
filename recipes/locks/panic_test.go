package locks_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
)

// handlerThatPanics is a log handler that panics when it is asked whether it is
// enabled.
type handlerThatPanics struct{ armed *atomic.Bool }

func (h handlerThatPanics) Enabled(context.Context, slog.Level) bool {
	if h.armed.Load() {
		panic("no log")
	}
	return true
}

func (h handlerThatPanics) Handle(context.Context, slog.Record) error { return nil }
func (h handlerThatPanics) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h handlerThatPanics) WithGroup(string) slog.Handler             { return h }

// A re-entry that panics has no lease, and keeps the lock from nobody when the
// holder releases it.
//
// Promise: A re-entry that panics leaves no share of the lock.
func TestPanicOfAReentryLeavesNoLockHeld(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		armed := &atomic.Bool{}
		c, _ := w.Connect(t, framework.WithLogger(slog.New(handlerThatPanics{armed})))
		m := mutexAt(c)
		held := locktest.Acquire(t, t.Context(), m)
		synctest.Wait()
		armed.Store(true)
		require.PanicsWithValue(t, "no log", func() { m.Acquire(held.Context()) })
		armed.Store(false)
		require.NoError(t, held.Context().Err())
		require.NoError(t, held.Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}
