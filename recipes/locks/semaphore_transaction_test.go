package locks_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Thousands of leases cost as many requests as one, and memory that grows as their
// number does.
func TestThousandsOfLeasesAreOneTransaction(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const many = 2000
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(many))
		require.NoError(t, locktest.Acquire(t, ctx, s).Release(ctx)) // it makes the parents
		allocations := map[int]uint64{}
		for _, n := range []int{many / 4, many} {
			synctest.Wait()
			w.Fake.ClearRequests()
			before := allocated()
			lease, err := s.AcquireN(ctx, n)
			require.NoError(t, err)
			require.Len(t, w.Fake.Children(path+"/leases"), n)
			require.NoError(t, lease.Release(ctx))
			allocations[n] = allocated() - before
			require.Len(t, w.Requests(), 5)
		}
		require.Less(t, allocations[many], 8*allocations[many/4], "four times that, and sixteen if each allocates for each")
		w.NothingLeft(t, path+"/leases")
		w.NothingLeft(t, path+"/locks")
	})
}

// allocated returns how often memory was allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// lossesOf are the ways in which the request of a client's session, or its reply,
// is lost.
func lossesOf(w *world, session int64) map[string]zktest.Action {
	all := map[string]zktest.Action{}
	for name, fault := range map[string]zktest.Action{
		"request": zktest.DropRequest(), "reply": zktest.DropReply(),
		"request muted": zktest.Blackhole(), "reply muted": zktest.BlackholeReply(),
	} {
		all[name] = fault
		all[name+", session replaced"] = zktest.All(
			zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(session) }), fault)
		all[name+", session expired"] = zktest.All(fault,
			zktest.CallAfter(func(zktest.Request) { w.Fake.Session(session).Expire() }))
	}
	return all
}

// Whatever is lost with the transaction, the caller gets all leases or waits for
// its next turn, and no other lease is left.
func TestLeasesWhoseTransactionIsLostAreHeldOrGone(t *testing.T) {
	for loss := range lossesOf(nil, 0) {
		t.Run(loss, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				s := locks.NewInterProcessSemaphore(c, path, locks.Limit(3))
				require.NoError(t, hold(t, ctx, s).Release(ctx))
				fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: lossesOf(w, c.SessionID())[loss]})
				lease, err := s.AcquireN(ctx, 2)
				require.NoError(t, err)
				require.Equal(t, 1, fault.Hits())
				require.NoError(t, lease.Context().Err())
				ours := 0
				for _, name := range w.Nodes(t, path+"/leases") {
					node, _ := w.Fake.Node(path + "/leases/" + name)
					if node.Stat.EphemeralOwner == c.SessionID() {
						ours++
					}
				}
				require.Equal(t, 2, ours)
				time.Sleep(time.Minute)
				require.Len(t, w.Nodes(t, path+"/leases"), 2)
				require.Empty(t, w.Nodes(t, path+"/locks"))
				require.NoError(t, lease.Context().Err())
				require.NoError(t, lease.Release(ctx))
				w.NothingLeft(t, path+"/leases")
				w.NothingLeft(t, path+"/locks")
			})
		})
	}
}

// Somebody deletes the node at the gate just before the transaction, and others
// take the leases.
//
// Promise: A semaphore grants no lease to an owner whose node at the gate is gone.
func TestLeasesAreNotTakenWithoutTheGate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(2))
		require.NoError(t, hold(t, ctx, s).Release(ctx))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Call(func(zktest.Request) {
			w.Fake.Delete(path + "/locks/" + w.Fake.Children(path + "/locks")[0])
			w.Fake.Create(path+"/leases/lease-0000000099", nil)
		})})
		waiting := make(chan *locks.Lease)
		go func() { lease, _ := s.AcquireN(ctx, 2); waiting <- lease }()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"lease-0000000099"}, w.Nodes(t, path+"/leases"))
		require.NoError(t, w.Fake.Delete(path+"/leases/lease-0000000099"))
		lease := <-waiting
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path+"/leases")
		w.NothingLeft(t, path+"/locks")
	})
}

// A lease that somebody has deleted does not keep the others from their release.
//
// Promise: A release of several leases deletes the others if one is already gone.
func TestReleaseOfSeveralDeletesTheRest(t *testing.T) {
	for i := range 3 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			s := locks.NewInterProcessSemaphore(c, path, locks.Limit(3))
			lease, err := s.AcquireN(ctx, 3)
			require.NoError(t, err)
			require.NoError(t, w.Fake.Delete(path+"/leases/"+w.Nodes(t, path+"/leases")[i]))
			require.NoError(t, lease.Release(ctx))
			w.NothingLeft(t, path+"/leases")
		})
	}
}
