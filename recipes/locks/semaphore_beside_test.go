package locks_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// listOf hits the next list of a node's children by the session.
func (w *world) listOf(session int64, path string, do zktest.Action) *zktest.Injection {
	return w.Fake.Inject(zktest.Rule{Op: list, Path: path, Session: session, Do: do})
}

// The creation at the gate, the list of the gate and that of the leases are one
// round trip, and the transaction is the second. The release is the third.
func TestAcquireOfALeaseTakesTwoRoundTrips(t *testing.T) {
	for name, tc := range map[string]struct {
		acquire func(ctx context.Context, s *locks.InterProcessSemaphore) (*locks.Lease, error)
		limit   locks.SemaphoreLimit
		ops     []zktest.Op
		trips   int
	}{
		"one": {
			func(ctx context.Context, s *locks.InterProcessSemaphore) (*locks.Lease, error) { return s.Acquire(ctx) }, locks.Limit(5),
			[]zktest.Op{create, list, list, zktest.OpMulti}, 2,
		},
		"several": {
			func(ctx context.Context, s *locks.InterProcessSemaphore) (*locks.Lease, error) {
				return s.AcquireN(ctx, 5)
			}, locks.Limit(5),
			[]zktest.Op{create, list, list, zktest.OpMulti}, 2,
		},
		"a try": {
			func(ctx context.Context, s *locks.InterProcessSemaphore) (*locks.Lease, error) {
				return s.TryAcquire(ctx)
			}, locks.Limit(5),
			[]zktest.Op{create, list, list, zktest.OpMulti}, 2,
		},
		"a shared limit, which is read behind the leases": {
			func(ctx context.Context, s *locks.InterProcessSemaphore) (*locks.Lease, error) { return s.Acquire(ctx) }, locks.SharedLimit("/limit", 5),
			[]zktest.Op{create, list, list, read, zktest.OpMulti}, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				const roundTrip = 10 * time.Millisecond
				c, _ := w.Connect(t)
				s := locks.NewInterProcessSemaphore(c, "/l", tc.limit)
				require.NoError(t, hold(t, t.Context(), s).Release(t.Context())) // makes the parents
				synctest.Wait()
				w.Fake.ClearRequests()
				w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(roundTrip)})
				begun := time.Now()
				lease, err := tc.acquire(t.Context(), s)
				require.NoError(t, err)
				require.Equal(t, time.Duration(tc.trips)*roundTrip, time.Since(begun))
				require.Equal(t, tc.ops, w.Requests())
				require.NoError(t, lease.Release(t.Context()))
				require.Equal(t, time.Duration(tc.trips+1)*roundTrip, time.Since(begun))
				require.Len(t, w.Requests(), len(tc.ops)+1)
				w.NothingLeft(t, "/l/leases")
				w.NothingLeft(t, "/l/locks")
			})
		})
	}
}

// slow lets the client of a semaphore take a lease so slowly that others come to the
// gate behind it.
func (w *world) slow(t *testing.T, limit int) *locktest.Pending {
	t.Helper()
	c, _ := w.Connect(t)
	s := locks.NewInterProcessSemaphore(c, "/l", locks.Limit(limit))
	require.NoError(t, hold(t, t.Context(), s).Release(t.Context())) // makes the parents
	w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.DelayRequest(2 * time.Second)})
	first := take(w.Patience(t), s)
	time.Sleep(time.Second)
	require.False(t, first.IsOver())
	require.Empty(t, w.Fake.Children("/l/leases"))
	return first
}

// waitsFor requires that the second one gets the only lease when the first one, which
// gets it before, has released it.
func (w *world) waitsFor(t *testing.T, first, second *locktest.Pending) {
	t.Helper()
	first.Wait(t)
	time.Sleep(time.Minute)
	require.False(t, second.IsOver(), "there are more leases than the limit")
	require.Len(t, w.Fake.Children("/l/leases"), 1)
	require.NoError(t, first.Lease.Release(t.Context()))
	require.NoError(t, second.Wait(t).Release(t.Context()))
	w.NothingLeft(t, "/l/leases")
	w.NothingLeft(t, "/l/locks")
}

// The leases were free when somebody came to the gate who had one ahead there. That
// one has taken the lease since.
func TestLeasesThatAreListedBehindAnotherAreNotTrusted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.slow(t, 1)
		c, _ := w.Connect(t)
		second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		time.Sleep(time.Second / 2)
		require.Equal(t, []zktest.Op{create, list, list, read}, (&pair{world: w}).requestsOf(c))
		w.waitsFor(t, first, second)
	})
}

// The list of the gate could not be had, and that of the leases behind it could. By
// the next look at the gate, the one that was ahead has taken the lease.
func TestLeasesThatAreListedWithoutTheGateAreNotTrusted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.slow(t, 1)
		c, _ := w.Connect(t)
		w.listOf(c.SessionID(), "/l/locks", zktest.Fail(zktest.ErrNoAuth))
		w.Fake.Inject(zktest.Rule{Op: list, Path: "/l/locks", Session: c.SessionID(), After: 1, Do: zktest.DelayRequest(2 * time.Second)})
		second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		w.waitsFor(t, first, second)
	})
}

// The one that is ahead takes the lease behind both lists, and has gone from the gate
// when its czxid is asked for, as numbers are used up.
func TestLeasesThatAreListedWhenNumbersAreUsedUpAreNotTrusted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		makesParents, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(makesParents, "/l", locks.Limit(1))
		require.NoError(t, hold(t, t.Context(), s).Release(t.Context()))
		require.NoError(t, w.Fake.SetSequence("/l/locks", math.MaxInt32))
		first := w.slow(t, 1)
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpExists, Session: c.SessionID(), Times: -1, Do: zktest.DelayRequest(2 * time.Second)})
		second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		w.waitsFor(t, first, second)
	})
}

// The one that is ahead takes the lease between the two lists.
func TestLeasesAreListedBehindTheGate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.slow(t, 1)
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: list, Session: c.SessionID(), After: 1, Do: zktest.DelayRequest(2 * time.Second)})
		second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		first.Wait(t)
		time.Sleep(time.Minute)
		require.False(t, second.IsOver(), "there are more leases than the limit")
		require.NoError(t, first.Lease.Release(t.Context()))
		require.NoError(t, second.Wait(t).Release(t.Context()))
	})
}

// tracerAtTheGate is called when an acquire has its node at the gate.
type tracerAtTheGate struct {
	locktest.Spy
	once   sync.Once
	atGate func()
}

func (g *tracerAtTheGate) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, acquireAtTheGate{locktest.SpyOnAcquire{Spy: &g.Spy}, g}
}

type acquireAtTheGate struct {
	locktest.SpyOnAcquire
	of *tracerAtTheGate
}

func (a acquireAtTheGate) Queued(locktrace.Queued) { a.of.once.Do(a.of.atGate) }

// The connection is interrupted right after the grant at the gate, so that the node
// there cannot be trusted and is given up. Somebody else is ahead of the next one.
func TestLeasesThatAreListedWithAnotherNodeAreNotTrusted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &tracerAtTheGate{}
		c, network := w.Connect(t, framework.WithHooks(tracer), framework.WithErrorPolicy(state.StandardPolicy))
		other, _ := w.Connect(t)
		theirs := locks.NewInterProcessSemaphore(other, "/l", locks.Limit(1))
		require.NoError(t, hold(t, t.Context(), theirs).Release(t.Context()))
		var first *locktest.Pending
		tracer.atGate = func() {
			w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: other.SessionID(), Do: zktest.DelayRequest(5 * time.Second)})
			first = take(w.Patience(t), theirs)
			time.Sleep(100 * time.Millisecond)
			w.Fake.RefuseConnections(true)
			network.Cut()
			time.Sleep(100 * time.Millisecond)
		}
		second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		time.Sleep(3 * time.Second)
		w.Fake.RefuseConnections(false)
		first.Wait(t)
		time.Sleep(time.Minute)
		require.False(t, second.IsOver(), "there are more leases than the limit")
		require.NoError(t, first.Lease.Release(t.Context()))
		require.NoError(t, second.Wait(t).Release(t.Context()))
		w.NothingLeft(t, "/l/leases")
		w.NothingLeft(t, "/l/locks")
	})
}

// Servers lag behind, also the leader, and those that take leases are at different
// ones. No list is older than the grant that it serves.
func TestLeasesThatAreListedByServersThatLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		var in inside
		var all sync.WaitGroup
		for i, m := range ens.Members() {
			require.NoError(t, m.Lag(time.Duration(i+1)*time.Second/2))
			s := locks.NewInterProcessSemaphore(connectToOne(t, ens, m), "/l", locks.Limit(2))
			all.Go(func() {
				for round := range 10 {
					lease := hold(t, t.Context(), s)
					in.add(0, 0, 1)
					time.Sleep(time.Duration(round%4) * time.Second / 2)
					in.add(0, 0, -1)
					lease.Release(t.Context())
				}
			})
		}
		all.Wait()
		require.Equal(t, 2, in.most)
	})
}
