package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A server answers a transaction with an error that says nothing of its outcome.
// As a mutex does, the multi-lock returns the error, and asks no more.
func TestAtomicMultiLockWhoseTransactionsFailReturnsTheError(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ErrSystem, zktest.ErrOperationTimeout} {
		for name, acquire := range acquireOrTry {
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx := w.Patience(t)
					c, _ := w.Connect(t)
					l := locks.NewAtomicMultiLock(c, pathsBelow("/l", 3))
					require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
					w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Fail(code)}) // one
					_, err := acquire(l, ctx)
					answered, ok := framework.ServerCode(err)
					require.True(t, ok, err)
					require.EqualValues(t, code, answered)
				})
			})
		}
	}
}

var acquireOrTry = map[string]func(locks.Locker, context.Context) (*locks.Lease, error){
	"acquire": locks.Locker.Acquire, "try": locks.Locker.TryAcquire,
}

// The reply of the transaction is lost, and somebody deletes one of its nodes before
// the client has found them. It begins again, with a pause if that goes on.
func TestAtomicMultiLockWhoseNodeVanishesWithTheReply(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		l := locks.NewAtomicMultiLock(c, pathsBelow("/l", 3))
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		const times = 4
		lost := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Times: times, Do: zktest.DropReply()})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpConnect, Times: times, Do: zktest.Call(func(zktest.Request) {
			for _, name := range w.Fake.Children("/l/b") {
				require.NoError(t, w.Fake.Delete("/l/b/"+name))
			}
		})})
		begun := time.Now()
		lease := locktest.Acquire(t, ctx, l)
		require.Equal(t, times, lost.Hits())
		require.Greater(t, time.Since(begun), 500*time.Millisecond)
		require.NoError(t, lease.Release(ctx))
		time.Sleep(time.Minute)
		for _, p := range pathsBelow("/l", 3) {
			w.NothingLeft(t, p)
		}
	})
}

// A transaction that was repeated has made two nodes in each queue. The first ones
// are ahead of a rival, and the others behind it. The first are deleted in all
// queues at once: while we wait for the rival in one, it must not wait for us in
// the next.
func TestOtherNodesOfATransactionKeepNobodyWaiting(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		ab, ba := []string{"/l/a", "/l/b"}, []string{"/l/b", "/l/a"}
		var held []*locks.Lease
		var mid []*locktest.Pending
		third, _ := w.Connect(t)
		for _, p := range ab {
			held = append(held, locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, p)))
			mid = append(mid, locktest.AcquireLater(ctx, locks.NewInterProcessMutex(third, p)))
		}
		synctest.Wait()
		rival := locktest.AcquireLater(ctx, locks.NewAtomicMultiLock(other, ba))
		synctest.Wait()
		makeOtherNodes(t, w, c, ab, "0000000000") // the number of a node that is gone
		waiting := locktest.AcquireLater(ctx, locks.NewAtomicMultiLock(c, ab))
		synctest.Wait()
		for i := range ab {
			require.NoError(t, held[i].Release(ctx))
			require.NoError(t, mid[i].Wait(t).Release(ctx))
		}
		synctest.Wait()
		require.True(t, rival.IsOver(), "the rival waits for a node of ours, and we wait for the rival")
		require.NoError(t, rival.Wait(t).Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		for _, p := range ab {
			w.NothingLeft(t, p)
		}
	})
}

// A try that is refused at the first queue leaves no second node in the others.
func TestOtherNodesOfATransactionAreNotLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		ab := []string{"/l/a", "/l/b"}
		l := locks.NewAtomicMultiLock(c, ab)
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, "/l/a"))
		makeOtherNodes(t, w, c, ab, "0000000009")
		_, err := l.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, held.Release(ctx))
		time.Sleep(time.Minute)
		for _, p := range ab {
			w.NothingLeft(t, p)
		}
	})
}

// makeOtherNodes makes a second node of each create of the client's next
// transaction, as if that had been repeated by mistake.
func makeOtherNodes(t *testing.T, w *world, c *framework.Client, paths []string, number string) {
	w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.CallAfter(func(zktest.Request) {
		for _, p := range paths {
			ours := ownNode(t, w, c, p)
			id := ours[:strings.LastIndex(ours, "lock-")+len("lock-")]
			require.NoError(t, w.Fake.Create(id+number, nil))
		}
	})})
}

// panicsAtOperation is a tracer that panics at an operation.
type panicsAtOperation string

func (p panicsAtOperation) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Name == string(p) {
		panic("tracer")
	}
	return ctx
}

func (p panicsAtOperation) EndOperation(context.Context, clienttrace.OperationEnd) {}

// The queues are listed by goroutines. A panic of the user's code there is the
// caller's, as everywhere in an acquire, and leaves nothing.
func TestPanicInAListingOfAnAtomicMultiLockIsTheCallers(t *testing.T) {
	for name, acquire := range acquireOrTry {
		for _, version := range []zktest.Version{zktest.Version384, zktest.Version393} { // one by one, and together
			recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
				w := &world{virtual}
				c, _ := w.Connect(t, framework.WithHooks(panicsAtOperation("children")))
				paths := pathsBelow("/l", 3)
				require.PanicsWithValue(t, "tracer", func() {
					acquire(locks.NewAtomicMultiLock(c, paths), w.Patience(t))
				}, name)
				synctest.Wait()
				for _, p := range paths {
					w.NothingLeft(t, p)
				}
			}, zktest.WithVersion(version))
		}
	}
}

// Our request in one queue is lost, and during the outage somebody deletes our node
// in the next one. What was listed before says nothing of that: another holds the
// lock by then.
func TestAtomicMultiLockLooksAgainAfterAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, ab := w.Patience(t), pathsBelow("/l", 2)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		l := locks.NewAtomicMultiLock(c, ab)
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, "/l/a"))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: c.SessionID(), Do: zktest.DropRequest()})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayReply(2 * time.Second)})
		waiting := locktest.AcquireLater(ctx, l)
		synctest.Wait()
		require.NoError(t, held.Release(ctx))
		require.NoError(t, w.Fake.Delete(ownNode(t, w, c, "/l/b")))
		rival := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(other, "/l/b"))
		time.Sleep(2500 * time.Millisecond)
		require.False(t, waiting.IsOver(), "both hold the lock")
		require.NoError(t, rival.Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
	})
}
