package locks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
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
