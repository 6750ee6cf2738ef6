package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
)

// mute is a context of the user's own that panics when it is asked for a value.
type mute struct{ context.Context }

func (mute) Value(any) any { panic("value") }

// A release that panics releases all the same.
//
// Promise: A release whose context panics still deletes its node.
func TestReleaseWhoseContextPanicsWhenItIsAskedForAValue(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"one": func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l/a") },
		"several": func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), lock(c))
				require.PanicsWithValue(t, "value", func() { _ = lease.Release(mute{t.Context()}) })
				time.Sleep(time.Minute)
				require.Empty(t, w.Fake.Queue("/l/a"))
				require.Empty(t, w.Fake.Queue("/l/b"))
				require.NoError(t, locktest.Acquire(t, w.Patience(t), lock(c)).Release(t.Context()))
			})
		})
	}
}
