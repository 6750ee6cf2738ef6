package atomic_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller that gives up hears whether its change may have been applied. One
// whose change was not sent hears that it was not, and it never is.
func TestCallersThatGiveUp(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 100))
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Do: zktest.DelayRequest(4 * time.Second)})
				var all sync.WaitGroup
				var first, second, third error
				all.Go(func() { _, first = n.Add(recipetest.Within(t, time.Second), 1) })
				time.Sleep(10 * time.Millisecond)
				all.Go(func() { _, second = n.Add(recipetest.Within(t, time.Second), 10) })
				all.Go(func() { _, third = n.Add(recipetest.Within(t, time.Minute), 1000) })
				all.Wait()
				require.ErrorIs(t, first, framework.ErrOutcomeUnknown, "its write was under way")
				require.ErrorIs(t, first, context.DeadlineExceeded)
				require.ErrorIs(t, second, context.DeadlineExceeded)
				require.NotErrorIs(t, second, framework.ErrOutcomeUnknown)
				require.NoError(t, third)
				time.Sleep(time.Minute)
				now, err := n.Load(ctx)
				require.NoError(t, err)
				require.Contains(t, []int64{1100, 1101}, now)
			})
		})
	}
}

// A caller gives up when somebody else was faster than its write, while the
// node is read again. It hears that the change was not applied, and so it is.
//
// Promise: A caller that gives up after a conflict is not told that its write may be applied.
func TestCallerThatGivesUpAfterAConflict(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				require.NoError(t, w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 50}))
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetData, Do: zktest.DelayReply(3 * time.Second)})
				_, err := n.Add(recipetest.Within(t, time.Second), 1)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				now, err := n.Load(ctx)
				require.NoError(t, err)
				require.EqualValues(t, 50, now)
			})
		})
	}
}

// A caller gives up when its change is composed with other callers' changes, and not
// yet sent. The caller's error says that the change was not applied, and the change is
// not applied.
//
// Promise: A change that was reported as not applied is never sent.
func TestCallerThatGivesUpJustBeforeTheWrite(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		require.NoError(t, n.Store(ctx, 1))
		// The next write finds no receipt, and a new one takes its time.
		require.NoError(t, w.Fake.Delete("/receipts/"+w.Fake.Children("/receipts")[0]))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayRequest(100 * time.Millisecond)})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/receipts/*", Do: zktest.DelayRequest(4 * time.Second)})
		var all sync.WaitGroup
		var gone error
		all.Go(func() {
			_, err := n.Add(ctx, 10)
			assert.NoError(t, err)
		})
		time.Sleep(10 * time.Millisecond)
		all.Go(func() { _, gone = n.Add(recipetest.Within(t, time.Second), 100) })
		all.Wait()
		require.ErrorIs(t, gone, context.DeadlineExceeded)
		require.NotErrorIs(t, gone, framework.ErrOutcomeUnknown)
		time.Sleep(time.Minute) // a write that should not be sent would be by now
		now, err := n.Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 11, now)
	})
}

func TestContextThatHasEndedSendsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		ended, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("not today")
		cancel(reason)
		_, err := atomic.NewLong(c, "/n").Add(ended, 1)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, reason)
		require.Empty(t, w.requests(c.SessionID()))
	})
}
