package recipes_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
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
		c1, crashed := w.connect(t)
		c2, _ := w.connect(t)
		acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)

		start := time.Now()
		defer crashed.isolate()()
		lease := waiter.wait(t)
		require.Less(t, time.Since(start), w.session+time.Second)
		require.NoError(t, lease.Release(ctx))
	})
}

// E31: the holder stops before the server can give the lock to somebody else, whenever in its cycle of pings the network
// goes away. Curator's LOST came four seconds too late.
func TestIsolatedHolderStopsBeforeTheNextIsAdmitted(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c2, _ := w.connect(t)
		m2 := recipes.NewInterProcessMutex(c2, path)
		phases := 3
		if w.fake != nil {
			phases = 20
		}
		for i := range phases {
			c1, knife := w.connect(t)
			holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
			waiter := acquireLater(ctx, m2)
			w.waitNodes(t, path, 2)
			var stopped time.Time
			saw := make(chan struct{})
			context.AfterFunc(holder.Context(), func() {
				stopped = time.Now()
				close(saw)
			})
			<-time.After(time.Duration(i) * w.session / 3 / time.Duration(phases)) // a phase of the pings

			heal := knife.isolate()
			lease := waiter.wait(t)
			admitted := time.Now()
			select {
			case <-saw:
				require.True(t, stopped.Before(admitted), "phase %d: stopped %v after the next was admitted", i, stopped.Sub(admitted))
				require.ErrorIs(t, context.Cause(holder.Context()), framework.ErrSessionLost)
			default:
				t.Fatalf("phase %d: two holders", i)
			}
			require.NoError(t, lease.Release(ctx))
			heal()
			c1.Close()
		}
	})
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
		w.session = 20 * time.Second
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
		w.session = 20 * time.Second
		c1, knife := w.connect(t)
		c2, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c1, path)
		lease := acquire(t, ctx, m)
		knife.refuse(true)
		knife.cut()

		soon, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, lease.Release(soon), context.DeadlineExceeded)
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

func TestHoldersNodeDeletedByAnOperator(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)
		require.NoError(t, w.observer.Delete(ctx, lease.Path(), framework.AnyVersion))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrNodeDeleted)
		other := acquire(t, ctx, m)
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrNodeDeleted)
		require.NoError(t, other.Context().Err())
		require.NoError(t, other.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A long holder watches its own node. That watch goes with the node, not by a request of its own, and data written
// to the node is no reason to end.
func TestLongHolderLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, knife := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		<-time.After(2 * time.Second)
		require.Len(t, w.fake.Watches(), 1)
		for range 3 {
			require.NoError(t, w.fake.Set(lease.Path(), []byte("hello")))
			synctest.Wait()
			require.Len(t, w.fake.Watches(), 1)
		}
		knife.cut()
		require.NoError(t, c.WaitConnected(ctx))
		<-time.After(time.Second)
		require.NoError(t, lease.Context().Err())

		w.fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.requests())
		w.nothingLeft(t, path)
	})
}

// The holder looks after its own node through interruptions, and through answers that help nobody.
func TestHolderNoticesTheDeletionWhateverHappened(t *testing.T) {
	for name, trouble := range map[string]zktest.Action{
		"request lost":   zktest.DropRequest,
		"reply lost":     zktest.DropReply,
		"server error":   zktest.Fail(zktest.ErrSystem),
		"no right":       zktest.Fail(zktest.ErrNoAuth),
		"server is busy": zktest.Fail(zktest.ErrThrottled),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.patience(t)
				c, _ := w.connect(t)
				lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l"))
				fault := w.fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: c.SessionID(), Times: 8, Do: trouble})
				<-fault.Done()
				require.NoError(t, lease.Context().Err())
				require.NoError(t, w.fake.Delete(lease.Path()))
				<-lease.Context().Done()
				require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrNodeDeleted)
			})
		})
	}
}

// A deletion that the server could not carry out is tried again until it is done.
func TestReleaseOutlastsTheServersTrouble(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ErrSystem, zktest.ErrOperationTimeout, zktest.ErrRequestTimeout, zktest.ErrThrottled, zktest.ErrSessionMoved} {
		t.Run(code.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.patience(t)
				c, _ := w.connect(t)
				lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l"))
				w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 20, Do: zktest.Fail(code)})
				require.Error(t, lease.Release(ctx))
				w.nothingLeft(t, "/l")
			})
		})
	}
}

// A server without capacity is waited for like one that is away.
func TestAcquireOutlastsAThrottlingServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		c, _ := w.connect(t, framework.WithRetry(retry.None()))
		w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 50, Do: zktest.Fail(zktest.ErrThrottled)})
		w.fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Times: 50, Do: zktest.Fail(zktest.ErrThrottled)})
		start := time.Now()
		require.NoError(t, acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l")).Release(ctx))
		require.GreaterOrEqual(t, time.Since(start), 10*time.Second, "without a busy loop")
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

func TestWaitersNodeDeletedByAnOperator(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		waiter := acquireLater(ctx, m)
		nodes := w.waitNodes(t, path, 2)
		require.NoError(t, w.observer.Delete(ctx, path+"/"+nodes[1], framework.AnyVersion))
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiter.wait(t).Release(ctx))
		w.nothingLeft(t, path)
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

// Lost requests and replies at every step leave one node per contender, and none in the end.
func TestLostRequestsAndReplies(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpDelete, zktest.OpSync} {
		for name, fault := range map[string]zktest.Action{"request": zktest.DropRequest, "reply": zktest.DropReply} {
			t.Run(op.String()+" "+name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx, path := w.patience(t), "/l"
					c1, _ := w.connect(t)
					c2, _ := w.connect(t)
					holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))

					session := c2.SessionID()
					if op == zktest.OpSync { // only recovery sends one
						w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: session, Do: zktest.DropReply})
					}
					w.fake.Inject(zktest.Rule{Op: op, Session: session, Times: 2, Do: fault})
					waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
					<-time.After(5 * time.Second)
					require.Len(t, w.fake.Children(path), 2)
					require.NoError(t, holder.Release(ctx))
					require.NoError(t, waiter.wait(t).Release(ctx))
					w.nothingLeft(t, path)
				})
			})
		}
	}
}

// Whatever happens to three clients, no two contexts are alive at once, tokens grow, and nothing is left.
func TestOneHolderUnderRandomFaults(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var holders, grants atomic.Int32
		var lastToken atomic.Int64
		done := make(chan struct{})
		knives := make([]*wire, 3)
		for i := range knives {
			var c *framework.Client
			c, knives[i] = w.connect(t)
			m := recipes.NewInterProcessMutex(c, path)
			go func() {
				defer func() { done <- struct{}{} }()
				for ctx.Err() == nil {
					lease, err := m.Acquire(ctx)
					if err != nil {
						continue
					}
					if holders.Add(1) != 1 {
						t.Error("two holders")
					}
					if token := lease.FencingToken(); lastToken.Swap(token) >= token {
						t.Error("token does not grow")
					}
					grants.Add(1)
					select {
					case <-lease.Context().Done():
					case <-time.After(time.Duration(grants.Load()%7) * 700 * time.Millisecond):
					}
					holders.Add(-1)
					lease.Release(ctx)
				}
			}()
		}
		hurt(ctx, t, knives)
		for range knives {
			<-done
		}
		require.Greater(t, grants.Load(), int32(500))
		w.nothingLeft(t, path)
	})
}

// hurt cuts, isolates and expires the clients in turn until ctx ends.
func hurt(ctx context.Context, t *testing.T, knives []*wire) {
	for i := 0; ctx.Err() == nil; i++ {
		knife := knives[i%len(knives)]
		switch i % 4 {
		case 0, 1:
			knife.cut()
		case 2:
			heal := knife.isolate()
			<-time.After(time.Duration(i%13) * time.Second)
			heal()
		case 3:
			knife.refuse(true)
			knife.cut()
			<-time.After(time.Duration(i%17) * time.Second)
			knife.refuse(false)
		}
		select {
		case <-time.After(time.Duration(i%5) * 1100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
