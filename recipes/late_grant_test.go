package recipes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// endingContext is a context in the moment of its end: its Err has said so, and
// nobody who waits for its Done has been woken yet.
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

// The answer that would be the grant is already there when the context ends.
func TestGrantThatComesAfterTheCallerHasGoneIsNone(t *testing.T) {
	for name, tc := range map[string]struct {
		lock  func(c *framework.Client) recipes.Locker
		paths []string
		grant zktest.Rule // the request whose answer is the grant
	}{
		"mutex": {
			func(c *framework.Client) recipes.Locker { return recipes.NewInterProcessMutex(c, "/l") },
			[]string{"/l"}, zktest.Rule{Op: zktest.OpGetChildren, Path: "/l"},
		},
		"writer": {
			func(c *framework.Client) recipes.Locker { return rwOf(c).Writer() },
			[]string{"/l"}, zktest.Rule{Op: zktest.OpGetChildren, Path: "/l"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.connect(t)
				for _, path := range tc.paths { // or the first listing would find nothing
					require.NoError(t, w.fake.Create(path, nil))
				}
				ctx := &endingContext{Context: t.Context()}
				rule := tc.grant
				rule.Do = zktest.CallAfter(func(zktest.Request) { ctx.ended.Store(true) })
				seen := w.fake.Inject(rule)
				lease, err := tc.lock(c).Acquire(ctx)
				require.Equal(t, 1, seen.Hits())
				require.ErrorIs(t, err, context.Canceled)
				require.Nil(t, lease)
				for _, path := range tc.paths {
					w.nothingLeft(t, path)
				}
			})
		})
	}
}

// The holder changes while somebody far behind in the queue waits: the error
// names the new holder, by the name of its node and by what that says.
func TestErrorNamesTheHolderOfTheLastLook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		var queue []*pending
		var leave []context.CancelFunc
		for i, id := range []string{"first", "second", "third", "fourth"} {
			c, _ := w.connect(t)
			waiting, cancel := context.WithCancel(ctx)
			defer cancel()
			leave = append(leave, cancel)
			queue = append(queue, acquireLater(waiting, recipes.NewInterProcessMutex(c, "/l", recipes.WithID(id))))
			w.waitNodes(t, "/l", i+1)
		}
		c, _ := w.connect(t)
		deadline, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		last := acquireLater(deadline, recipes.NewInterProcessMutex(c, "/l"))
		w.waitNodes(t, "/l", 5)
		require.NoError(t, queue[0].wait(t).Release(ctx)) // the last one does not hear of that
		second := queue[1].wait(t)
		w.waitNodes(t, "/l", 4)
		leave[3]() // now it looks again
		<-queue[3].done
		w.waitNodes(t, "/l", 3)

		<-last.done
		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, last.err, &refused)
		require.Equal(t, second.Path(), "/l/"+refused.Holder)
		require.Equal(t, "second", refused.Identity.Foreign)
		require.Equal(t, 2, refused.Ahead)
		require.NoError(t, second.Release(ctx))
		require.NoError(t, queue[2].wait(t).Release(ctx))
	})
}
