package locks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// endingContext is a context in the moment of its end: its Err returns an
// error already, but its Done channel has woken no waiter yet.
type endingContext struct {
	context.Context
	ended atomic.Bool
}

func (c *endingContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// The answer that would be the grant has already arrived when the context
// ends.
func TestGrantThatComesAfterTheCallerHasGoneIsNone(t *testing.T) {
	for name, tc := range map[string]struct {
		lock  func(c *framework.Client) locks.Locker
		paths []string
		grant zktest.Rule // the request whose answer is the grant
	}{
		"mutex": {
			func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l") },
			[]string{"/l"}, zktest.Rule{Op: zktest.OpGetChildren, Path: "/l"},
		},
		"writer": {
			func(c *framework.Client) locks.Locker { return rwOf(c).WriteLock() },
			[]string{"/l"}, zktest.Rule{Op: zktest.OpGetChildren, Path: "/l"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				for _, path := range tc.paths { // without its path, the first listing finds nothing
					require.NoError(t, w.Fake.Create(path, nil))
				}
				ctx := &endingContext{Context: t.Context()}
				rule := tc.grant
				rule.Do = zktest.CallAfter(func(zktest.Request) { ctx.ended.Store(true) })
				seen := w.Fake.Inject(rule)
				lease, err := tc.lock(c).Acquire(ctx)
				require.Equal(t, 1, seen.Hits())
				require.ErrorIs(t, err, context.Canceled)
				require.Nil(t, lease)
				for _, path := range tc.paths {
					w.NothingLeft(t, path)
				}
			})
		})
	}
}

// The holder changes while a waiter far behind in the queue waits. The error
// names the new holder, by the name of its node and by the node's data.
func TestErrorNamesTheHolderOfTheLastLook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		var queue []*recipetest.Pending
		var leave []context.CancelFunc
		for i, id := range []string{"first", "second", "third", "fourth"} {
			c, _ := w.Connect(t)
			waiting, cancel := context.WithCancel(ctx)
			defer cancel()
			leave = append(leave, cancel)
			queue = append(queue, recipetest.AcquireLater(waiting, locks.NewInterProcessMutex(c, "/l", locks.WithNodeData([]byte(id)))))
			w.WaitNodes(t, "/l", i+1)
		}
		c, _ := w.Connect(t)
		deadline, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		last := recipetest.AcquireLater(deadline, locks.NewInterProcessMutex(c, "/l"))
		w.WaitNodes(t, "/l", 5)
		require.NoError(t, queue[0].Wait(t).Release(ctx)) // the last waiter does not hear of that
		second := queue[1].Wait(t)
		w.WaitNodes(t, "/l", 4)
		leave[3]() // now the last waiter looks again
		<-queue[3].Done
		w.WaitNodes(t, "/l", 3)

		<-last.Done
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, last.Err, &refused)
		require.Equal(t, second.Path(), "/l/"+refused.Holder)
		require.Equal(t, "second", refused.Identity().Foreign)
		require.Equal(t, 2, refused.Ahead)
		require.NoError(t, second.Release(ctx))
		require.NoError(t, queue[2].Wait(t).Release(ctx))
	})
}
