package recipes_test

import (
	"fmt"
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
