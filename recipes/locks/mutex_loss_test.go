package locks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// The lock of a crashed holder is free when the holder's session has timed
// out.
//
// Promise: The lock of a process that crashed is free after its session timeout.
func TestCrashedHolderFreesTheLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c1, crashed := w.Connect(t, w.ShortLived()...)
		c2, _ := w.Connect(t)
		locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, path))
		waiter := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
		w.WaitNodes(t, path, 2)

		start := time.Now()
		defer crashed.Isolate()()
		lease := waiter.Wait(t)
		// A busy machine may take this long. The bound is still the time of
		// the crashed client's session, and not of the other clients'
		// sessions.
		bound := recipetest.LongSession
		if w.Fake != nil {
			bound = recipetest.ShortSession
		}
		require.LessOrEqual(t, time.Since(start), bound)
		require.NoError(t, lease.Release(ctx))
	})
}

// The holder stops before the server can give the lock to another client, at
// whatever point of the holder's ping cycle the network fails. Curator's LOST
// came four seconds too late. The safety margin is the default: it leaves two
// seconds of a recipetest.LongSession session.
//
// Promise: A partitioned holder's context ends before the servers admit the next contender.
func TestIsolatedHolderStopsBeforeTheNextIsAdmitted(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		phases := 3
		if w.Fake != nil {
			phases = 20
		}
		var transfers []*transfer
		for range phases {
			transfers = append(transfers, w.startTransfer(t, recipetest.Path(t)))
		}
		for _, p := range transfers {
			defer p.network.Isolate()()
			// The next holder is in the next phase of its pings.
			<-time.After(w.Session / 3 / time.Duration(phases))
		}
		for i, p := range transfers {
			lease := p.waiter.Wait(t)
			p.watching.Wait()
			require.Error(t, p.over, "phase %d: two holders", i)
			require.ErrorIs(t, context.Cause(p.holder.Context()), framework.ErrSessionLost)
			if w.Fake != nil {
				require.True(t, p.stopped.Before(p.admitted), "phase %d: stopped %v after the next was admitted", i, p.stopped.Sub(p.admitted))
			}
			require.NoError(t, lease.Release(w.Patience(t)))
		}
	})
}

// transfer records how a mutex passes from a holder to a waiter. The two have separate
// clients.
type transfer struct {
	network *recipetest.Network // network of the holder
	holder  *locks.Lease
	waiter  *locktest.Pending

	watching          sync.WaitGroup // waits for the writers of the following fields
	stopped, admitted time.Time
	over              error // error of the holder's context when the waiter was admitted
}

func (w *world) startTransfer(t *testing.T, path string) *transfer {
	t.Helper()
	ctx := w.Patience(t)
	first, network := w.Connect(t)
	second, _ := w.Connect(t)
	p := &transfer{network: network, holder: locktest.Acquire(t, ctx, locks.NewInterProcessMutex(first, path))}
	p.waiter = locktest.AcquireLater(ctx, locks.NewInterProcessMutex(second, path))
	w.WaitNodes(t, path, 2)
	p.watching.Go(func() {
		<-p.holder.Context().Done()
		p.stopped = time.Now()
	})
	p.watching.Go(func() {
		<-p.waiter.Done
		p.over, p.admitted = p.holder.Context().Err(), time.Now()
	})
	return p
}

// A holder whose session is over does not re-enter a lock that another client
// holds now.
//
// Promise: A lost lock cannot be re-entered.
func TestNoReentryAfterLoss(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c1, network := w.Connect(t)
		c2, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c1, path)
		lost := locktest.Acquire(t, ctx, m)
		waiter := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
		w.WaitNodes(t, path, 2)
		network.Expire(t)
		owner := waiter.Wait(t)
		<-lost.Context().Done()

		_, err := m.Acquire(lost.Context())
		require.ErrorIs(t, err, framework.ErrSessionLost)
		_, err = m.TryAcquire(context.WithoutCancel(lost.Context()))
		require.ErrorIs(t, err, framework.ErrSessionLost, "whoever asks believes to hold the lock")
		lost.Release(ctx)
		_, err = m.TryAcquire(context.WithoutCancel(lost.Context()))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "afterwards it queues like everybody else")

		require.NoError(t, owner.Context().Err())
		require.NoError(t, owner.Release(ctx))
	})
}

// waitState waits until the client is in a state.
func waitState(t *testing.T, c *framework.Client, want state.State) {
	t.Helper()
	states := c.States(t.Context()) // begins here, so that no transition is missed
	if c.State() == want {
		return
	}
	for s := range states {
		if s == want {
			return
		}
	}
}

// Curator tests this in
// TestInterProcessMutexBase#testWaitingProcessKilledServer.
//
// Promise: An interruption that the session survives loses neither a lease nor a place in the queue.
func TestServerRestartLosesNeitherHolderNorWaiter(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		w.Session = time.Minute // the session survives a restart of the server
		c1, _ := w.Connect(t)
		c2, _ := w.Connect(t)
		holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, path))
		waiter := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
		w.WaitNodes(t, path, 2)

		w.Stop()
		waitState(t, c1, state.Suspended)
		waitState(t, c2, state.Suspended)
		w.Start()
		require.NoError(t, c1.WaitConnected(ctx))
		require.NoError(t, holder.Context().Err(), "the session has survived, and so has the lock")
		require.False(t, waiter.IsOver())
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiter.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

func TestStandardPolicyEndsTheLeaseAtTheInterruption(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		strict, strictNetwork := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		lenient, lenientNetwork := w.Connect(t)
		l1 := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(strict, path))
		l2 := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(lenient, path+"-2"))
		strictNetwork.Cut()
		lenientNetwork.Cut()
		<-l1.Context().Done()
		require.ErrorIs(t, context.Cause(l1.Context()), framework.ErrSuspended)
		require.NoError(t, lenient.WaitConnected(ctx))
		require.NoError(t, l2.Context().Err())
		require.ErrorIs(t, l1.Release(ctx), framework.ErrSuspended)
		require.NoError(t, l2.Release(ctx))

		require.NoError(t, strict.WaitConnected(ctx))
		again := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(strict, path))
		require.NoError(t, again.Context().Err(), "a later lease is not touched by an earlier interruption")
		require.NoError(t, again.Release(ctx))
		w.NothingLeft(t, path)
	})
}

func TestCloseEndsHoldersAndWaiters(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		holder := locktest.Acquire(t, ctx, m)
		waiter := locktest.AcquireLater(ctx, m)
		waitAhead(t, ctx, m, 2)
		c.Close()
		require.ErrorIs(t, context.Cause(holder.Context()), framework.ErrClosed)
		<-waiter.Done
		require.ErrorIs(t, waiter.Err, framework.ErrClosed)
		require.ErrorIs(t, holder.Release(ctx), framework.ErrClosed)
		w.NothingLeft(t, path)
	})
}
