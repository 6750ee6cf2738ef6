package locks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// pairOfOne is pair, with both on one client.
func (w *world) pairOfOne(t *testing.T, first, second func(c *framework.Client) locks.Locker) *pair {
	t.Helper()
	p := &pair{world: w}
	p.one, p.network = w.Connect(t)
	p.two = p.one
	p.holder = hold(t, w.Patience(t), first(p.one))
	w.Fake.ClearRequests()
	p.next = take(w.Patience(t), second(p.two))
	time.Sleep(500 * time.Millisecond) // nobody reads the holder's node yet to look after it
	p.node = w.nextOf(p.holder)
	return p
}

// The next in line of the holder's own client takes the lock on the event, too. The
// answer to the release proves that the session lived.
func TestNextOfOursTakesTheLockWithoutALook(t *testing.T) {
	for name, of := range map[string]struct {
		first, second func(c *framework.Client) locks.Locker
	}{
		"mutex":                 {mutexAt, mutexAt},
		"writer after a reader": {readerAt, writerAt},
		"other options": {mutexAt, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l", locks.WithCachedLock(10, time.Minute))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.pairOfOne(t, of.first, of.second)
				require.Equal(t, []zktest.Op{create, list, read, read}, p.requestsOf(p.two))
				require.Equal(t, []zktest.Op{remove}, p.handOver(t))
				time.Sleep(10 * time.Second)
				require.Equal(t, []zktest.Op{remove}, p.Requests(), "it has the watch on its node")
				require.NoError(t, p.next.Lease.Release(t.Context()))
				time.Sleep(time.Hour)
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// Many goroutines pass the lock on. Each looks with the creation of its node, and
// hardly ever again.
func TestGoroutinesOfOneClientPassOnWithoutALook(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const n = 64
		c, _ := w.Connect(t)
		m := mutexAt(c)
		require.NoError(t, hold(t, t.Context(), m).Release(t.Context())) // makes the path
		w.Fake.ClearRequests()
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				lease := hold(t, t.Context(), m)
				time.Sleep(10 * time.Millisecond)
				require.NoError(t, lease.Release(t.Context()))
			})
		}
		all.Wait()
		require.Equal(t, n, w.Fake.CountRequests(create))
		t.Log(w.Fake.CountRequests(list), "lists")
		require.Less(t, w.Fake.CountRequests(list), n+n/2) // some queue before the last release has arrived
		w.NothingLeft(t, "/l")
	})
}

// In these cases the answer does not say that the session lived when the node was
// deleted, or that we are the first, and the next in line looks at the queue.
//
// Promise: A waiter does not take another client's deletion for the release of its own process.
func TestNextOfOursLooksWhereTheAnswerProvesNothing(t *testing.T) {
	deletion := func(do zktest.Action) func(t *testing.T, p *pair) {
		return func(_ *testing.T, p *pair) { p.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Do: do}) }
	}
	for name, tc := range map[string]struct {
		first, second func(c *framework.Client) locks.Locker
		before        func(t *testing.T, p *pair)
	}{
		"a reconnect": {mutexAt, mutexAt, func(t *testing.T, p *pair) {
			p.network.Cut()
			synctest.Wait()
			require.NoError(t, p.two.WaitConnected(t.Context()))
			time.Sleep(time.Second)
		}},
		"a lost request":          {mutexAt, mutexAt, deletion(zktest.DropRequest())},
		"a lost reply":            {mutexAt, mutexAt, deletion(zktest.DropReply())},
		"a writer after a writer": {writerAt, writerAt, func(*testing.T, *pair) {}},
		"somebody else": {mutexAt, mutexAt, func(t *testing.T, p *pair) {
			p.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Do: zktest.Call(func(zktest.Request) {
				if err := p.Fake.Delete(p.holder.Path()); err != nil {
					t.Error(err)
				}
			})})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				p := w.pairOfOne(t, tc.first, tc.second)
				tc.before(t, p)
				require.Contains(t, p.handOver(t), list)
				require.NoError(t, p.next.Lease.Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// A release that does not wait for its answer lets the client delete the node.
func TestNextOfOursLooksBehindADeletionInTheBackground(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, mutexAt, mutexAt)
		synctest.Wait()
		w.Fake.ClearRequests()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, p.holder.Release(ended))
		require.NoError(t, p.next.Wait(t).Release(t.Context()))
		require.Contains(t, w.Requests(), list)
		w.NothingLeft(t, "/l")
	})
}

// A session ends at the server while its holder releases the lock, and the request
// does not arrive any more. As in TestNextInLineIsNotAdmittedByTheEndOfItsSession,
// the next goroutine of the client hears that the holder's node is gone, and not that
// its own is.
//
// Promise: A waiter is not admitted by a release of its own process whose reply was lost.
func TestNextOfOursIsNotAdmittedByAReleaseThatIsLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.pairOfOne(t, mutexAt, mutexAt)
		three, _ := w.Connect(t)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		w.Fake.Inject(zktest.Rule{Op: remove, Path: p.holder.Path(), Session: p.one.SessionID(), Do: zktest.DelayRequest(time.Minute)})
		var releasing sync.WaitGroup
		releasing.Go(func() { _ = p.holder.Release(w.Patience(t)) })
		synctest.Wait()
		require.NoError(t, w.Fake.Delete(p.holder.Path())) // the first half of the session's end
		time.Sleep(100 * time.Millisecond)
		require.False(t, p.next.IsOver(), "the answer has not come")
		w.Fake.RefuseConnections(true)
		w.Fake.Session(p.one.SessionID()).Expire()
		third.Wait(t)
		time.Sleep(100 * time.Millisecond)
		require.False(t, p.next.IsOver(), "admitted by the end of its own session")
		w.Fake.RefuseConnections(false)
		releasing.Wait()
		require.NoError(t, third.Lease.Release(t.Context()))
		require.NoError(t, p.next.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// The next goroutine gives up when the event has come, and the answer has not. Its
// node is in nobody's way.
func TestNextOfOursGivesUpBeforeTheAnswer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		holder := hold(t, t.Context(), mutexAt(c))
		giving, giveUp := context.WithCancel(w.Patience(t))
		next := take(giving, mutexAt(c))
		three, _ := w.Connect(t)
		time.Sleep(time.Second)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		w.Fake.Inject(zktest.Rule{Op: remove, Path: holder.Path(), Do: zktest.CallAfter(func(zktest.Request) {
			time.Sleep(time.Second)
			giveUp()
			time.Sleep(time.Second)
		})})
		begun := time.Now()
		var releasing sync.WaitGroup
		releasing.Go(func() { _ = holder.Release(w.Patience(t)) })
		<-next.Done
		require.ErrorIs(t, next.Err, context.Canceled)
		require.Equal(t, time.Second, time.Since(begun), "it did not wait for the answer")
		require.NoError(t, third.Wait(t).Release(t.Context()))
		releasing.Wait()
		w.NothingLeft(t, "/l")
	})
}

// A fault hits any request of two goroutines of a client that hold the lock one
// after the other. Both get it in the end, and nothing is left behind.
func TestFaultAtEveryRequestOfTwoGoroutines(t *testing.T) {
	t.Parallel()
	for name := range recipetest.Faults(nil, 0) {
		t.Run(name, func(t *testing.T) {
			recipetest.EachRequest(t, 1, func(t *testing.T, i int) (hit bool) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, _ := w.Connect(t)
					fault := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: recipetest.Faults(w.World, c.SessionID())[name]})
					inside := locktest.NewExclusive(t)
					var both sync.WaitGroup
					for range 2 { // a loss of the session may change their order
						both.Go(func() {
							lease := hold(t, w.Patience(t), mutexAt(c))
							inside.Enter(lease)
							time.Sleep(time.Second)
							lease.Release(w.Patience(t))
						})
						synctest.Wait()
					}
					both.Wait()
					hit = fault.Hits() > 0
					w.NothingLeft(t, "/l")
				})
				return hit
			})
		})
	}
}

// Faults hit clients at random, each of which has several goroutines that want the
// lock. It has one holder at a time, and no node is left.
func TestGoroutinesOfOneClientUnderRandomFaults(t *testing.T) {
	t.Parallel()
	var in inside
	var grants atomic.Int32
	underRandomFaults(t, 3, func(ctx context.Context, i, round int, c *framework.Client) {
		var all sync.WaitGroup
		for j := range 3 {
			all.Go(func() {
				limited, cancel := context.WithTimeout(ctx, time.Duration(5+(round+j)%20)*time.Second)
				defer cancel()
				l, err := mutexAt(c).Acquire(limited)
				if err != nil {
					return
				}
				if in.add(0, 1, 0).writers != 1 {
					t.Error("two holders")
				}
				if !in.write(l.FencingToken()) {
					t.Error("token does not grow")
				}
				grants.Add(1)
				stay(l, i+round+j)
				in.add(0, -1, 0)
				l.Release(ctx)
			})
		}
		all.Wait()
	}, func(t *testing.T, w *world) { w.NothingLeft(t, "/l") })
	t.Log(grants.Load(), "grants")
	require.Greater(t, grants.Load(), inTroubledTime(300))
}
