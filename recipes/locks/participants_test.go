package locks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestParticipantsAreInOrderWithWhatIsKnownOfThem(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		clients := map[int64]int{}
		var all []*locktest.Pending
		for i := range 4 {
			c, _ := w.Connect(t)
			clients[c.SessionID()] = i
			m := locks.NewInterProcessMutex(c, path, locks.WithNodeData(fmt.Append(nil, "worker ", i)))
			all = append(all, locktest.AcquireLater(ctx, m))
			w.WaitNodes(t, path, i+1)
		}
		_, err := w.Observer.Create(ctx, path+"/zzz", nil)
		require.NoError(t, err)

		list, err := locks.NewInterProcessMutex(w.Observer, path).Participants(ctx)
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
			lease := p.Wait(t)
			require.Equal(t, list[i].Token, lease.FencingToken())
			require.Equal(t, list[i].Path, lease.Path())
			require.NoError(t, lease.Release(ctx))
		}
		require.NoError(t, w.Observer.Delete(ctx, path+"/zzz", framework.AnyVersion))
	})
}

// A participant as text is its owner, in one line, whatever somebody has written
// into its node.
func TestParticipantIsLegibleAsText(t *testing.T) {
	for want, p := range map[string]locks.Participant{
		"orders@web-1/7":         {Path: "/l/a", Session: 7, Data: []byte(`{"v":1,"host":"web-1","pid":7,"service":"orders"}`)},
		"worker 1 (session 0x7)": {Path: "/l/a", Session: 7, Data: []byte("worker 1")},
		"session 0x7":            {Path: "/l/a", Session: 7, Data: []byte("two\nlines")},
		"nobody":                 {}, // as leader.Observe has it
	} {
		require.Equal(t, want, fmt.Sprint(p))
	}
}

func TestParticipantsOfALockThatNobodyHasUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		list, err := locks.NewInterProcessMutex(w.Observer, "/never/used").Participants(t.Context())
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestParticipantWhoLeavesMeanwhileIsLeftOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		queue := queueUp(ctx, locks.NewInterProcessMutex(c, path), 2)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: w.Observer.SessionID(), Times: 1, Do: zktest.Fail(zkinside.ErrNoNode)})
		list, err := locks.NewInterProcessMutex(w.Observer, path).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)

		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: w.Observer.SessionID(), Times: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err = locks.NewInterProcessMutex(w.Observer, path).Participants(ctx)
		require.Error(t, err, "a list with a hole would lie")
		for _, p := range queue {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
	})
}

// The lock is handed over while the queue was listed and not yet read, to one who
// was in the list, or to one who has come since.
func TestParticipantsHaveAHolderWhileALockIsHandedOver(t *testing.T) {
	for _, waiters := range []int{0, 2} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			first, other := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path)), path+"/lock-2147483646"
			for i := range waiters {
				next, _ := w.Connect(t)
				locktest.AcquireLater(ctx, locks.NewInterProcessMutex(next, path))
				w.WaitNodes(t, path, i+2)
			}
			read := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: first.Path(), Session: w.Observer.SessionID(), Do: zktest.Call(func(zktest.Request) {
				require.NoError(t, w.Fake.Create(other, nil))
				require.NoError(t, first.Release(ctx))
			})})
			all, err := locks.NewInterProcessMutex(w.Observer, path).Participants(ctx)
			require.NoError(t, err)
			require.Equal(t, 1, read.Hits())
			require.Len(t, all, max(1, waiters))
			for i, p := range all {
				require.Equal(t, i, p.Position)
				require.Equal(t, i == 0, p.Holder)
			}
			require.NoError(t, w.Fake.Delete(other))
		})
	}
}

// A participant is called by the name that its owner has chosen, if that fits
// into a line, and otherwise by the identity in its node.
func TestParticipantsAreCalledByTheirNames(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithServiceName("orders"))
		long := strings.Repeat("é", 500)
		for _, named := range []struct {
			opts []locks.MutexOption
			id   string
		}{
			{nil, "orders@"},
			{[]locks.MutexOption{locks.WithNodeData([]byte("worker-1"))}, "worker-1"},
			{[]locks.MutexOption{locks.WithNodeData([]byte(long))}, long},
			{[]locks.MutexOption{locks.WithNodeData([]byte("10.0.0.3"))}, "10.0.0.3"},
			{[]locks.MutexOption{locks.WithNodeData([]byte(`{"v":1,"service":"payments","pid":7}`))}, "payments/7"},
			{[]locks.MutexOption{locks.WithNodeData(nil)}, "unknown"},
			{[]locks.MutexOption{locks.WithoutIdentity()}, "unknown"},
			{[]locks.MutexOption{locks.WithNodeData([]byte("\xac\xed\x00\x05t"))}, "unknown"},
			{[]locks.MutexOption{locks.WithNodeData([]byte(long + "\n"))}, "unknown"},
		} {
			m := locks.NewInterProcessMutex(c, path, named.opts...)
			lease := locktest.Acquire(t, ctx, m)
			all, err := m.Participants(ctx)
			require.NoError(t, err)
			if named.opts == nil {
				require.Equal(t, all[0].Identity().String(), all[0].ID())
				require.Contains(t, all[0].ID(), named.id)
			} else {
				require.Equal(t, named.id, all[0].ID())
			}
			_, err = locks.NewInterProcessMutex(w.Observer, path).TryAcquire(ctx)
			require.Equal(t, all[0].ID(), notAcquired(t, err).HolderID())
			require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()))
			all, err = m.Participants(ctx)
			require.NoError(t, err)
			require.Equal(t, "unknown", all[0].ID(), "its name is gone")
			require.NoError(t, lease.Release(ctx))
		}
	})
}

// Promise: IsContender knows the contenders of every recipe that queues, and no other
// name.
func TestIsContender(t *testing.T) {
	const id = "_c_3e5a60df-061d-4981-a166-73c06f3f53fc-"
	for _, name := range []string{
		id + "lock-0000000001", "lock--000000001", id + "__READ__0000000002", id + "__WRIT__2147483647",
		id + "lease-0000000003", id + "latch-0000000004", "_c_3e5a60df061d4981a16673c06f3f53fc-lock-0000000001",
		"3e5a60df061d4981a16673c06f3f53fc__lock__0000000001", "3e5a60df061d4981a16673c06f3f53fc__rlock__0000000001",
	} {
		require.True(t, locks.IsContender(name), name)
	}
	for _, name := range []string{
		"", "lock-", "lock-1", "locks", "leases", "zone1", "deadlock-0000000000", "3e5a60df061d__lock__1", "/lock-0000000001",
	} {
		require.False(t, locks.IsContender(name), name)
	}
}
