package atomic_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// lose lets somebody else write the number first, before the next writes of a
// client.
func (w *world) lose(c *framework.Client, path string, times int) {
	w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Path: path, Times: times, Do: zktest.Call(func(zktest.Request) {
		_ = w.Fake.Set(path, []byte{0, 0, 0, 0, 0, 0, 0, 7})
	})})
}

// A write waits for the lock of those who were beaten too often. Loads do not
// wait with it.
func TestLoadDoesNotWaitForThePromotion(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		held, err := locks.NewInterProcessMutex(w.Observer, "/lock").Acquire(ctx)
		require.NoError(t, err)
		n := atomic.NewLong(c, "/n", atomic.WithPromotion("/lock", 1))
		require.NoError(t, n.Store(ctx, 5))
		w.lose(c, "/n", 1)
		var add sync.WaitGroup
		add.Go(func() {
			sum, err := n.Add(ctx, 1)
			require.NoError(t, err)
			require.EqualValues(t, 8, sum)
		})
		w.WaitNodes(t, "/lock", 2)
		now, err := n.Load(recipetest.Within(t, time.Second))
		require.NoError(t, err)
		require.EqualValues(t, 7, now)
		require.NoError(t, held.Release(ctx))
		add.Wait()
	})
}

// A change right after a Load is one request: it knows the node from the Load.
func TestChangeAfterALoadIsOneRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/n", nil))
		n := atomic.NewLong(c, "/n")
		w.Fake.ClearRequests()
		old, err := n.Load(ctx)
		require.NoError(t, err)
		swapped, err := n.CompareAndSwap(ctx, old, 5)
		require.NoError(t, err)
		require.True(t, swapped)
		require.Equal(t, []zktest.Op{zktest.OpSync, zktest.OpGetData, zktest.OpSetData}, w.requests(c.SessionID()))
	})
}
