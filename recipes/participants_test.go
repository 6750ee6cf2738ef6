package recipes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestParticipantsAreInOrderWithWhatIsKnownOfThem(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		clients := map[int64]int{}
		var all []*pending
		for i := range 4 {
			c, _ := w.connect(t)
			clients[c.SessionID()] = i
			m := recipes.NewInterProcessMutex(c, path, recipes.WithNodeData(fmt.Append(nil, "worker ", i)))
			all = append(all, acquireLater(ctx, m))
			w.waitNodes(t, path, i+1)
		}
		_, err := w.observer.Create(ctx, path+"/zzz", nil)
		require.NoError(t, err)

		list, err := recipes.NewInterProcessMutex(w.observer, path).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 4)
		for i, p := range list {
			require.Equal(t, i, p.Position)
			require.Equal(t, i == 0, p.Holder)
			require.Equal(t, i, clients[p.Session])
			require.Equal(t, fmt.Sprint("worker ", i), p.ID())
			require.WithinDuration(t, time.Now(), p.Since, time.Minute)
		}
		for i, p := range all {
			lease := p.wait(t)
			require.Equal(t, list[i].Token, lease.FencingToken())
			require.Equal(t, list[i].Path, lease.Path())
			require.NoError(t, lease.Release(ctx))
		}
		require.NoError(t, w.observer.Delete(ctx, path+"/zzz", framework.AnyVersion))
	})
}

func TestParticipantsOfALockThatNobodyHasUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		list, err := recipes.NewInterProcessMutex(w.observer, "/never/used").Participants(t.Context())
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestParticipantWhoLeavesMeanwhileIsLeftOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		queue := queueUp(ctx, recipes.NewInterProcessMutex(c, path), 2)
		w.fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: w.observer.SessionID(), Times: 1, Do: zktest.Fail(zktest.ErrNoNode)})
		list, err := recipes.NewInterProcessMutex(w.observer, path).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)

		w.fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: w.observer.SessionID(), Times: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err = recipes.NewInterProcessMutex(w.observer, path).Participants(ctx)
		require.Error(t, err, "a list with a hole would lie")
		for _, p := range queue {
			require.NoError(t, p.wait(t).Release(ctx))
		}
	})
}

// What people call a participant: its owner's own words, if they fit into a line, or else who its node says that it is.
func TestParticipantsAreCalledByTheirNames(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t, framework.WithServiceName("orders"))
		long := strings.Repeat("é", 500)
		for _, named := range []struct {
			opts []recipes.LockOption
			id   string
		}{
			{nil, "orders@"},
			{[]recipes.LockOption{recipes.WithID("worker-1")}, "worker-1"},
			{[]recipes.LockOption{recipes.WithID(long)}, long},
			{[]recipes.LockOption{recipes.WithNodeData([]byte("10.0.0.3"))}, "10.0.0.3"},
			{[]recipes.LockOption{recipes.WithNodeData([]byte(`{"v":1,"service":"payments","pid":7}`))}, "payments/7"},
			{[]recipes.LockOption{recipes.WithID("")}, "unknown"},
			{[]recipes.LockOption{recipes.WithoutIdentity()}, "unknown"},
			{[]recipes.LockOption{recipes.WithNodeData([]byte("\xac\xed\x00\x05t"))}, "unknown"},
			{[]recipes.LockOption{recipes.WithID(long + "\n")}, "unknown"},
		} {
			m := recipes.NewInterProcessMutex(c, path, named.opts...)
			lease := acquire(t, ctx, m)
			all, err := m.Participants(ctx)
			require.NoError(t, err)
			if named.opts == nil {
				require.Equal(t, all[0].Identity.String(), all[0].ID())
				require.Contains(t, all[0].ID(), named.id)
			} else {
				require.Equal(t, named.id, all[0].ID())
			}
			require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
			all, err = m.Participants(ctx)
			require.NoError(t, err)
			require.Equal(t, "unknown", all[0].ID(), "its name is gone")
			require.NoError(t, lease.Release(ctx))
		}
	})
}
