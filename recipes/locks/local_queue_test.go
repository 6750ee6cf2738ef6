package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// queueUp starts n acquires of one mutex object, one after the other, and
// returns them in this order.
func queueUp(ctx context.Context, m *locks.InterProcessMutex, n int) []*locktest.Pending {
	all := make([]*locktest.Pending, n)
	for i := range all {
		all[i] = locktest.AcquireLater(ctx, m)
		synctest.Wait()
	}
	return all
}

func TestTryAcquireOfABusyObjectNamesTheHolderWithoutANode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, locks.WithNodeData([]byte("till 7")))
		queue := queueUp(ctx, m, 4)
		w.Fake.ClearRequests()
		_, err := m.TryAcquire(ctx)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "till 7", refused.Identity().Foreign)
		require.Equal(t, 4, refused.Ahead)
		require.Empty(t, w.Requests())
		for _, p := range queue {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
	})
}

func TestOptionsThatCannotBeUsedAreErrorsOfEveryAcquire(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, opt := range []locks.MutexOption{
			locks.WithNodeData(make([]byte, 2000)), locks.WithNodeData([]byte("__REVOKE__")),
			handingOver(0, time.Second), handingOver(1, 0), nil,
		} {
			_, err := locks.NewInterProcessMutex(c, "/l", opt).Acquire(t.Context())
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}

// Promise: Node data of the limit is written, and longer data is an error that states the
// limit, before anything is sent.
func TestNodeDataThatIsTooLong(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/l", locks.WithNodeData(make([]byte, 1024))))
		require.NoError(t, lease.Release(t.Context()))
		w.Fake.ClearRequests()
		for _, err := range []error{
			func() error {
				_, err := locks.NewInterProcessMutex(c, "/l", locks.WithNodeData(make([]byte, 1025))).TryAcquire(t.Context())
				return err
			}(),
			func() error {
				_, err := leader.NewLatch(c, "/l", leader.WithID(strings.Repeat("x", 1025)))
				return err
			}(),
			leader.NewSelector(c, "/l", leader.WithID(strings.Repeat("x", 1025))).Run(t.Context(), func(context.Context) error { return nil }),
		} {
			var config *framework.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorContains(t, err, `"1025 bytes": must be no more than 1024 bytes`)
			require.ErrorContains(t, err, "/l")
		}
		require.Zero(t, w.Fake.CountRequests(zktest.OpAny)-w.Fake.CountRequests(zkinside.OpPing))
	})
}
