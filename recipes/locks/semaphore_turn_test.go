package locks_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// semaphore returns a semaphore, and the client that has it.
func semaphore(t *testing.T, w *world, limit int, opts ...framework.Option) (*framework.Client, *locks.InterProcessSemaphore, string) {
	c, _ := w.Connect(t, opts...)
	path := recipetest.Path(t)
	return c, locks.NewInterProcessSemaphore(c, path, locks.Limit(limit)), path
}

// No request can take so many.
func TestAcquireOfMoreLeasesThanFitIntoMemory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		require.NotPanics(t, func() {
			_, err := locks.NewInterProcessSemaphore(c, path, locks.Limit(math.MaxInt)).AcquireN(ctx, math.MaxInt)
			require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		})
		w.NothingLeft(t, path+"/locks")
	})
}

func TestAcquireBeyondASharedLimitDoesNotOverflow(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 2))
		one := hold(t, ctx, s)
		require.NotPanics(t, func() {
			_, err := s.TryAcquireN(ctx, math.MaxInt)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
		})
		require.NoError(t, one.Release(ctx))
	})
}

// The server refuses to delete one of several leases.
func TestReleaseThatIsRefusedInPart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		_, s, path := semaphore(t, w, 3)
		lease, err := s.AcquireN(ctx, 3)
		require.NoError(t, err)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Fail(zktest.ErrNoAuth)})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Fail(zktest.ErrNoAuth)})
		require.Error(t, lease.Release(ctx))
		require.Len(t, w.Nodes(t, path+"/leases"), 1)
	})
}

// The server is too busy for the transaction. Meanwhile an operator deletes our
// node at the gate, and others take the leases.
//
// Promise: A semaphore waiter whose transaction was throttled notices that its node at the gate is gone.
func TestWaiterWhoseTransactionWasThrottledNoticesThatTheGateIsGone(t *testing.T) {
	for _, later := range []time.Duration{0, 10 * time.Second} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx := w.Patience(t)
			_, s, path := semaphore(t, w, 1, framework.WithRetry(retry.None()))
			require.NoError(t, hold(t, ctx, s).Release(ctx))
			deleteGate := func() { w.Fake.Delete(path + "/locks/" + w.Fake.Children(path + "/locks")[0]) }
			w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.All(zktest.Call(func(zktest.Request) {
				w.Fake.Create(path+"/leases/lease-0000000099", nil)
				if later == 0 {
					deleteGate()
				}
			}), zktest.Fail(zkinside.ErrThrottled))})
			ours := make(chan *locks.Lease, 1)
			go func() { lease, _ := s.Acquire(ctx); ours <- lease }()
			if later > 0 {
				time.Sleep(later)
				deleteGate()
			}
			time.Sleep(30 * time.Second)
			require.Len(t, w.Nodes(t, path+"/locks"), 1, "we wait at the gate")
			require.NoError(t, w.Fake.Delete(path+"/leases/lease-0000000099"))
			require.NoError(t, (<-ours).Release(ctx))
		})
	}
}

// A waiter is first at the gate, and no lease is free. An interruption that its session
// survives does not cost its place, whatever the client's error policy.
//
// Promise: An interruption does not cost the first waiter at a semaphore's gate its place.
func TestInterruptionDoesNotCostTheFirstAtTheGateItsPlace(t *testing.T) {
	for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
		t.Run(policy.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				holder := hold(t, ctx, semaphoreAt(w.Observer))
				c, network := w.Connect(t, framework.WithErrorPolicy(policy))
				first := take(ctx, semaphoreAt(c))
				w.WaitNodes(t, "/l/locks", 1)
				other, _ := w.Connect(t)
				second := take(ctx, semaphoreAt(other))
				w.WaitNodes(t, "/l/locks", 2)
				time.Sleep(time.Second) // until both wait
				network.Cut()
				time.Sleep(time.Second)
				require.NoError(t, c.WaitConnected(ctx))
				require.NoError(t, holder.Release(ctx))
				synctest.Wait()
				require.False(t, second.IsOver())
				require.NoError(t, first.Wait(t).Release(ctx))
				require.NoError(t, second.Wait(t).Release(ctx))
				w.NothingLeft(t, "/l/locks")
			})
		})
	}
}
