package recipes_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// The user's code that an acquire calls may panic. Whoever recovers from that goes on with the same objects.
func TestPanicOfTheUsersCodeLeavesNothingBehind(t *testing.T) {
	for _, kind := range kindsOfLocks {
		t.Run(kind.name, func(t *testing.T) {
			calls := 1
			for at := 1; at <= calls; at++ { // each call of an acquire that goes well
				inVirtualTime(t, func(t *testing.T, w *world) {
					calls = max(calls, panicsAt(t, w, kind, at))
				})
			}
			require.Positive(t, calls)
		})
	}
}

// panicsAt lets the n-th call of the ACL provider panic, and returns how often an acquire calls it.
func panicsAt(t *testing.T, w *world, kind lockKind, n int) (calls int) {
	ctx := w.patience(t)
	var armed, called atomic.Int64
	c, _ := w.connect(t, framework.WithACLProvider(func(string) []zk.ACL {
		if armed.Add(-1) == 0 {
			panic("no list")
		}
		called.Add(1)
		return zk.WorldACL(zk.PermAll)
	}))
	take, after := kind.taker(t, c)
	for range 2 { // the first creates the parents, too
		called.Store(0)
		require.NoError(t, must(take(ctx))(t).Release(ctx))
	}
	calls = int(called.Load())

	armed.Store(int64(n))
	require.PanicsWithValue(t, "no list", func() { take(ctx) })
	for range 2 {
		require.NoError(t, must(take(ctx))(t).Release(ctx))
	}
	after()
	rival, _ := w.connect(t)
	require.NoError(t, must(kind.rival(rival)(ctx))(t).Release(ctx))
	for _, path := range kind.paths {
		w.nothingLeft(t, path)
	}
	return calls
}

// The reply to the creation is lost, and then the retry policy panics: the node is found, and deleted.
func TestPanicOfTheRetryPolicyLeavesNoNodeBehind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, panics := w.patience(t), false
		c, _ := w.connect(t, framework.WithRetry(func() backoff.BackOff {
			if panics {
				panics = false
				panic("no schedule")
			}
			return backoff.NewConstantBackOff(time.Second)
		}))
		m := recipes.NewInterProcessMutex(c, "/l")
		require.NoError(t, acquire(t, ctx, m).Release(ctx))
		w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply})
		panics = true
		require.Panics(t, func() { m.Acquire(ctx) })
		time.Sleep(time.Minute)
		w.nothingLeft(t, "/l")
		require.NoError(t, acquire(t, ctx, m).Release(ctx))
	})
}
