package recipes_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// Under the standard policy each interruption costs the leadership, and not the node. However many there are, they leave
// no goroutine and no watch behind.
func TestInterruptedLeaderLeadsAgainWithItsNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, knife := w.connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		l := latch(t, c, "/l")
		first := w.await(t, l)
		count := func() int {
			synctest.Wait()
			return runtime.NumGoroutine()
		}
		lease, before := first, count()
		for range 30 {
			knife.cut()
			<-lease.Context().Done()
			require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSuspended)
			require.Nil(t, l.Leadership())
			again := w.await(t, l)
			require.NotSame(t, lease, again)
			require.Equal(t, first.Path(), again.Path())
			require.Equal(t, first.FencingToken(), again.FencingToken())
			require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSuspended, "it has nothing to give up any more")
			lease = again
			time.Sleep(time.Second)
		}
		require.Equal(t, before, count())
		require.Len(t, w.fake.Watches(), 1)
		require.NoError(t, l.Close(t.Context()))
		w.nothingLeft(t, "/l")
	})
}
