package leader_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// running is a call of Selector.Run. The work goes on until its context ends.
type running struct {
	selector *leader.Selector
	leads    chan *locks.Lease // gets each lease when its work begins
	result   chan error
	cancel   context.CancelFunc
}

// run starts a selector. The work waits for the end of its context, goes on for
// the time windDown, and returns the error of its context.
func (w *world) run(t *testing.T, c *framework.Client, path string, windDown time.Duration, opts ...leader.Option) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	r := &running{leader.NewSelector(c, path, opts...), make(chan *locks.Lease, 100), make(chan error, 1), cancel}
	go func() {
		r.result <- r.selector.Run(ctx, func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
			r.leads <- lease
			<-ctx.Done()
			time.Sleep(windDown)
			return ctx.Err()
		})
	}()
	return r
}

// stop cancels a run, and returns its result.
func (r *running) stop() error {
	r.cancel()
	return <-r.result
}

// Run returns the work's error, alone or together with a loss that the work did
// not notice. A panic of the work goes through Run. The node is deleted in each
// case.
func TestRunReturnsTheWorksError(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		s := leader.NewSelector(c, path)
		failed := errors.New("failed")
		require.NoError(t, s.Run(ctx, func(context.Context) error { return nil }))
		require.Equal(t, failed, s.Run(ctx, func(context.Context) error { return failed }))
		require.PanicsWithValue(t, failed, func() { s.Run(ctx, func(context.Context) error { panic(failed) }) })
		require.Nil(t, s.Leadership())
		lose := func(result error) func(context.Context) error {
			return func(ctx context.Context) error {
				network.Expire(t)
				<-ctx.Done()
				return result
			}
		}
		require.ErrorIs(t, s.Run(ctx, lose(nil)), framework.ErrSessionLost)
		err := s.Run(ctx, lose(failed))
		require.ErrorIs(t, err, failed)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.NoError(t, s.Run(ctx, func(context.Context) error { return nil }))
		w.NothingLeft(t, path)
	})
}

// CURATOR-15, CURATOR-16: the requeue function gets the result of each
// leadership. Run returns the last result.
func TestRequeueReceivesEachLeadership(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		var told []error
		again := leader.WithRequeue(func(err error) bool {
			told = append(told, err)
			return len(told) < 3
		})
		term := 0
		err := leader.NewSelector(c, "/l", again).Run(t.Context(), func(ctx context.Context) error {
			if term++; term == 2 {
				network.Expire(t)
				<-ctx.Done()
			}
			return fmt.Errorf("term %d", term)
		})
		require.EqualError(t, err, "term 3")
		require.EqualError(t, told[0], "term 1")
		require.ErrorContains(t, told[1], "term 2")
		require.ErrorIs(t, told[1], framework.ErrSessionLost)
		require.Equal(t, err, told[2])
		w.NothingLeft(t, "/l")
	})
}

// Run returns an error if it is running already, or is called under its own
// leadership.
func TestSelectorRunsOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		r := w.run(t, c, "/l", 0)
		<-r.leads
		require.ErrorIs(t, r.selector.Run(t.Context(), idle), leader.ErrRunning)
		require.ErrorIs(t, r.stop(), context.Canceled)
		other := leader.NewSelector(c, "/l")
		require.NoError(t, r.selector.Run(t.Context(), func(ctx context.Context) error {
			require.ErrorIs(t, other.Run(ctx, idle), leader.ErrRunning, "it would wait for itself")
			return nil
		}))
		w.NothingLeft(t, "/l")
	})
}

// CURATOR-54, TestLeaderSelector#testRaceAtStateChanged: ctx ends before the
// grant, with it, and after it. Run calls the work only if the work may begin.
// The work's context has then ended at the latest when the work looks at it.
func TestRunIsCancelledAroundTheGrant(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := leader.NewSelector(c, "/l")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		never := func(context.Context) error {
			assert.Fail(t, "work is called")
			return nil
		}
		require.ErrorIs(t, s.Run(ended, never), context.Canceled)
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Do: zktest.CallAfter(func(zktest.Request) { cancel() })})
			var worked atomic.Bool
			require.ErrorIs(t, s.Run(ctx, func(ctx context.Context) error {
				worked.Store(true)
				<-ctx.Done()
				return ctx.Err()
			}), context.Canceled)
			require.Nil(t, s.Leadership())
			w.WaitNodes(t, "/l", 0)
		}
		w.NothingLeft(t, "/l")
	})
}

// Run returns an error that does not go away with time.
func TestSelectorWithoutRightsDoesNotLoop(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		_, err := w.Observer.Create(ctx, path, nil, framework.WithACL(zk.WorldACL(zk.PermRead)))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		require.ErrorIs(t, leader.NewSelector(c, path, always()).Run(ctx, idle), zk.ErrNoAuth)
	})
}

// A selector and a mutex with the same path exclude each other. The work of the
// selector can acquire the mutex: that re-enters the leadership.
func TestSelectorAndMutexExcludeEachOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(other, path)
		held := locktest.Acquire(t, ctx, m)
		r := w.run(t, c, path, 0)
		w.WaitNodes(t, path, 2)
		require.Empty(t, r.leads)
		require.NoError(t, held.Release(ctx))
		lease := <-r.leads
		_, err := m.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		own := locks.NewInterProcessMutex(c, path)
		inner := locktest.Acquire(t, lease.Context(), own)
		require.Equal(t, lease.FencingToken(), inner.FencingToken())
		_, err = own.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "not under the leadership")
		require.NoError(t, inner.Release(ctx))
		require.NoError(t, lease.Context().Err())
		require.ErrorIs(t, r.stop(), context.Canceled)
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// idle is work that does nothing.
func idle(context.Context) error { return nil }

// Promise: An election whose hook panics leaves no candidate.
func TestRecoveredPanicLeavesNoCandidate(t *testing.T) {
	locktest.RecoveredPanic(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error {
		return leader.NewSelector(c, "/s").Run(ctx, idle)
	})
}
