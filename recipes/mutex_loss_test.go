package recipes_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

func TestLeaseEndsWithItsSession(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, knife := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		knife.expire(t)
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSessionLost)

		require.ErrorIs(t, lease.Release(ctx), framework.ErrSessionLost, "the holder learns that it had lost the lock")
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrReleased)
		w.nothingLeft(t, path)
	})
}

// Curator: TestInterProcessMutexBase#testKilledSession, which does not check for a single owner.
func TestWaiterGoesOnInTheNextSession(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, knife := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		waiter := acquireLater(ctx, m)
		w.waitNodes(t, path, 2)

		knife.expire(t)
		lease := waiter.wait(t)
		require.ErrorIs(t, context.Cause(holder.Context()), framework.ErrSessionLost)
		require.NoError(t, lease.Context().Err())
		require.Greater(t, lease.FencingToken(), holder.FencingToken())
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A crashed holder's lock is free when its session has timed out.
func TestCrashedHolderFreesTheLock(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, crashed := w.connect(t, w.mortal()...)
		c2, _ := w.connect(t)
		acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)

		start := time.Now()
		defer crashed.isolate()()
		lease := waiter.wait(t)
		bound := sturdy // on a busy machine; it is still the crashed one's time, and not the others'
		if w.fake != nil {
			bound = mortality
		}
		require.LessOrEqual(t, time.Since(start), bound)
		require.NoError(t, lease.Release(ctx))
	})
}

// E31: the holder stops before the server can give the lock to somebody else, whenever in its cycle of pings the network
// goes away. Curator's LOST came four seconds too late. The safety margin is the default one: of a sturdy session, it leaves
// two seconds.
func TestIsolatedHolderStopsBeforeTheNextIsAdmitted(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		phases := 3
		if w.fake != nil {
			phases = 20
		}
		var passages []*passingOn
		for range phases {
			passages = append(passages, w.passOn(t, path(t)))
		}
		for _, p := range passages {
			defer p.knife.isolate()()
			<-time.After(w.session / 3 / time.Duration(phases)) // to the next phase of the pings
		}
		for i, p := range passages {
			lease := p.waiter.wait(t)
			p.watching.Wait()
			require.Error(t, p.over, "phase %d: two holders", i)
			require.ErrorIs(t, context.Cause(p.holder.Context()), framework.ErrSessionLost)
			if w.fake != nil {
				require.True(t, p.stopped.Before(p.admitted), "phase %d: stopped %v after the next was admitted", i, p.stopped.Sub(p.admitted))
			}
			require.NoError(t, lease.Release(w.patience(t)))
		}
	})
}

// passingOn is that of a mutex from a holder to a waiter, of clients of their own.
type passingOn struct {
	knife  *wire // the holder's
	holder *recipes.Lease
	waiter *pending

	watching          sync.WaitGroup // who write the following fields
	stopped, admitted time.Time
	over              error // of the holder's context, when the waiter was admitted
}

func (w *world) passOn(t *testing.T, path string) *passingOn {
	t.Helper()
	ctx := w.patience(t)
	first, knife := w.connect(t)
	second, _ := w.connect(t)
	p := &passingOn{knife: knife, holder: acquire(t, ctx, recipes.NewInterProcessMutex(first, path))}
	p.waiter = acquireLater(ctx, recipes.NewInterProcessMutex(second, path))
	w.waitNodes(t, path, 2)
	p.watching.Go(func() {
		<-p.holder.Context().Done()
		p.stopped = time.Now()
	})
	p.watching.Go(func() {
		<-p.waiter.done
		p.over, p.admitted = p.holder.Context().Err(), time.Now()
	})
	return p
}

// E8: after its session, a holder does not re-enter what is somebody else's now.
func TestNoReentryAfterLoss(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, knife := w.connect(t)
		c2, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c1, path)
		lost := acquire(t, ctx, m)
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)
		knife.expire(t)
		owner := waiter.wait(t)
		<-lost.Context().Done()

		_, err := m.Acquire(lost.Context())
		require.ErrorIs(t, err, framework.ErrSessionLost)
		_, err = m.TryAcquire(context.WithoutCancel(lost.Context()))
		require.ErrorIs(t, err, framework.ErrSessionLost, "whoever asks believes to hold the lock")
		lost.Release(ctx)
		_, err = m.TryAcquire(context.WithoutCancel(lost.Context()))
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "afterwards it queues like everybody else")

		require.NoError(t, owner.Context().Err())
		require.NoError(t, owner.Release(ctx))
	})
}

// E20, CURATOR-604: a waiter whose session is replaced, while the server still keeps the old one, must not win with its
// old node, which is at the head of the queue and about to vanish.
func TestWaiterDoesNotWinWithANodeOfItsOldSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, knife := w.connect(t)
		c3, _ := w.connect(t)
		holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)
		synctest.Wait()
		nodes := w.waitNodes(t, path, 2)
		oldNode := nodes[slices.IndexFunc(nodes, func(n string) bool { return strings.HasSuffix(n, "-lock-0000000001") })]
		oldSession := c2.SessionID()

		// The client gives its session up nine tenths into it. The server has not, and is made to keep it for longer.
		heal := knife.isolate()
		waitState(t, c2, state.Lost)
		inj := w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: path + "/" + oldNode, Times: -1, Do: zktest.DropRequest})
		heal()
		require.NoError(t, c2.WaitConnected(ctx))
		require.NotEqual(t, oldSession, c2.SessionID())
		require.Contains(t, w.fake.Children(path), oldNode, "the server still has the old node")

		require.NoError(t, holder.Release(ctx))
		lease := waiter.wait(t)
		require.NotEqual(t, path+"/"+oldNode, lease.Path())
		inj.Remove()

		next := acquireLater(ctx, recipes.NewInterProcessMutex(c3, path))
		<-time.After(2 * w.session) // the old session is over on the server, too
		require.NoError(t, lease.Context().Err())
		require.False(t, next.over(), "two holders")
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, next.wait(t).Release(ctx))
	})
}

// waitState waits until the client is in a state.
func waitState(t *testing.T, c *framework.Client, want state.State) {
	t.Helper()
	states := c.States(t.Context()) // from here on, so that no transition slips in between
	if c.State() == want {
		return
	}
	for s := range states {
		if s == want {
			return
		}
	}
}

// Curator: #testWaitingProcessKilledServer.
func TestServerRestartLosesNeitherHolderNorWaiter(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		w.session = time.Minute // which outlasts a server's end and start
		c1, _ := w.connect(t)
		c2, _ := w.connect(t)
		holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)

		w.stop()
		waitState(t, c1, state.Suspended)
		waitState(t, c2, state.Suspended)
		w.start()
		require.NoError(t, c1.WaitConnected(ctx))
		require.NoError(t, holder.Context().Err(), "the session has survived, and so has the lock")
		require.False(t, waiter.over())
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiter.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A waiter keeps its place through a short interruption.
func TestWaiterKeepsItsPlaceThroughACut(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, knife := w.connect(t)
		holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		before := w.waitNodes(t, path, 2)
		for range 3 {
			knife.cut()
			require.NoError(t, c2.WaitConnected(ctx))
		}
		require.Equal(t, before, w.waitNodes(t, path, 2))
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiter.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// The predecessor goes away while the waiter is not connected: setWatches finds out.
func TestHandOverDuringAnInterruption(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, knife := w.connect(t)
		holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)
		knife.refuse(true)
		knife.cut()
		require.NoError(t, holder.Release(ctx))
		knife.refuse(false)
		require.NoError(t, waiter.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// E42: a release during an outage frees the lock when the connection is back, in the same session.
func TestReleaseDuringAnOutage(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		w.session = sturdy
		c1, knife := w.connect(t)
		c2, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c1, path)
		lease := acquire(t, ctx, m)
		knife.refuse(true)
		knife.cut()

		require.NoError(t, lease.Release(ctx), "the client goes on by itself")
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrReleased)
		w.waitNodes(t, path, 1)

		session := c1.SessionID()
		knife.refuse(false)
		require.NoError(t, acquire(t, ctx, recipes.NewInterProcessMutex(c2, path)).Release(ctx))
		require.Equal(t, session, c1.SessionID())
		require.NoError(t, acquire(t, ctx, m).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// E43: Curator took 16.8 seconds for a timeout of one.
func TestDeadlineIsHonouredDuringAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c1, _ := w.connect(t)
		c2, knife := w.connect(t, framework.WithConnectionTimeout(3*time.Second), framework.WithRetry(retry.N(3, time.Second)))
		holder := acquire(t, t.Context(), recipes.NewInterProcessMutex(c1, path))
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		<-time.After(300 * time.Millisecond)
		knife.refuse(true)
		knife.cut()
		<-waiter.done
		require.ErrorIs(t, waiter.err, context.DeadlineExceeded)
		require.ErrorIs(t, waiter.err, recipes.ErrNotAcquired)
		require.Equal(t, time.Second, time.Since(start))

		knife.refuse(false)
		w.waitNodes(t, path, 1)
		require.NoError(t, holder.Release(t.Context()))
		w.nothingLeft(t, path)
	})
}

func TestStandardPolicyEndsTheLeaseAtTheInterruption(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		strict, knife1 := w.connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		lenient, knife2 := w.connect(t)
		l1 := acquire(t, ctx, recipes.NewInterProcessMutex(strict, path))
		l2 := acquire(t, ctx, recipes.NewInterProcessMutex(lenient, path+"-2"))
		knife1.cut()
		knife2.cut()
		<-l1.Context().Done()
		require.ErrorIs(t, context.Cause(l1.Context()), framework.ErrSuspended)
		require.NoError(t, lenient.WaitConnected(ctx))
		require.NoError(t, l2.Context().Err())
		require.ErrorIs(t, l1.Release(ctx), framework.ErrSuspended)
		require.NoError(t, l2.Release(ctx))

		require.NoError(t, strict.WaitConnected(ctx))
		again := acquire(t, ctx, recipes.NewInterProcessMutex(strict, path))
		require.NoError(t, again.Context().Err(), "a later lease is not touched by an earlier interruption")
		require.NoError(t, again.Release(ctx))
		w.nothingLeft(t, path)
	})
}

func TestReleaseOfALostLeaseDoesNotWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, knife := w.connect(t)
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/l"))
		defer knife.isolate()()
		<-lease.Context().Done()
		start := time.Now()
		require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost)
		require.Zero(t, time.Since(start))
	})
}

func TestCloseEndsHoldersAndWaiters(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		waiter := acquireLater(ctx, m)
		w.waitNodes(t, path, 2)
		c.Close()
		require.ErrorIs(t, context.Cause(holder.Context()), framework.ErrClosed)
		<-waiter.done
		require.ErrorIs(t, waiter.err, framework.ErrClosed)
		require.ErrorIs(t, holder.Release(ctx), framework.ErrClosed)
		w.nothingLeft(t, path)
	})
}
