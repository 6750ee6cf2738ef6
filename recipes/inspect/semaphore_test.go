package inspect_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A lease stays held after its semaphore's limit was lowered. The first at the
// gate waits.
func TestLeasesBeyondALoweredLimitAreHeld(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		a, b, c := w.service(t, "a"), w.service(t, "b"), w.service(t, "c")
		limit := locks.SharedLimit("/s-limit", 2)
		locktest.Acquire(t, ctx, locks.NewInterProcessSemaphore(a, "/s", limit))
		locktest.Acquire(t, ctx, locks.NewInterProcessSemaphore(c, "/s", limit))
		locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/m"))
		w.acquireBehind(t, locks.NewInterProcessMutex(a, "/m"), "/m", 2)
		require.NoError(t, locks.SetSharedLimit(ctx, c, "/s-limit", 1))

		limits := inspect.WithSharedLimits(func(semaphore string) string { return semaphore + "-limit" })
		r := w.one(t, "/s", limits)
		require.Equal(t, []string{"a", "c"}, services(r.Holders))
		require.Empty(t, r.Waiters)
		require.Empty(t, w.graph(t, limits).Deadlocks, "c can go on")

		w.acquireBehind(t, locks.NewInterProcessSemaphore(b, "/s", limit), "/s/locks", 1)
		r = w.one(t, "/s", limits)
		require.Equal(t, []string{"a", "c"}, services(r.Holders))
		require.Equal(t, []string{"b"}, services(r.Waiters))
	})
}

// A participant at the gate of a semaphore that has leases left waits for
// nobody.
func TestNobodyWaitsForLeasesThatAreLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		create(t, w.service(t, "a"), "/s/leases/lease-0000000001", "", framework.Ephemeral)
		create(t, w.service(t, "b"), "/s/locks/lock-0000000002", "", framework.Ephemeral)
		create(t, w.Observer, "/s-limit", "\x00\x00\x00\x02", framework.Persistent)
		limits := inspect.WithSharedLimits(func(semaphore string) string { return semaphore + "-limit" })
		require.Empty(t, w.waits(t, "/s", limits))
		require.NotEmpty(t, w.waits(t, "/s"), "the limit is not known")
	})
}

// A selection finds what is below the participants of recipes that it leaves
// out.
func TestSelectionFindsWhatIsBelowOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, path := range []string{
			"/k/" + hex + "/a", "/k-__lock__/" + pyMutex + "0000000007/b", "/p/lock-0000000001/x/c",
			"/s/leases/lease-0000000001/d", "/s/locks/lock-0000000001/e", "/q/entries/other/f", "/q/taken/x/g",
		} {
			create(t, w.Observer, path+"/latch-0000000001", "", framework.Ephemeral)
		}
		create(t, w.Observer, "/q/entries/entry-100-0000000000", "", framework.Persistent)
		create(t, w.Observer, "/m/lock-0000000001", "", framework.Ephemeral)
		create(t, w.Observer, "/v/leases/lease-0000000001", "", framework.Ephemeral)
		var latches []inspect.Recipe
		for _, r := range w.walk(t, "/") {
			if r.Kind == inspect.LeaderLatch {
				latches = append(latches, r)
			}
		}
		require.Len(t, latches, 7)
		require.ElementsMatch(t, latches, w.walk(t, "/", inspect.WithKinds(inspect.LeaderLatch)))
		require.Empty(t, w.walk(t, "/", inspect.WithKinds(inspect.Registrations)), "participants are none")
	})
}

// A semaphore's leases are unsure if nobody may see who waits at the gate.
func TestLeasesAreUnsureIfTheGateIsHidden(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, d := w.service(t, "c"), w.service(t, "d")
		create(t, c, "/s/leases/lease-0000000001", "", framework.Ephemeral)
		create(t, d, "/s/locks/lock-0000000002", "", framework.Ephemeral)
		create(t, d, "/s/leases/lease-0000000002", "", framework.Ephemeral)
		r := w.one(t, "/s")
		require.False(t, r.Holders[0].Unsure)
		require.True(t, r.Holders[1].Unsure)
		require.Equal(t, []inspect.Kind{"semaphore_mutex"}, r.MayBe, "one holds, and one waits")
		require.NotEmpty(t, w.walk(t, "/", inspect.WithKinds("semaphore_mutex")))

		_, err := c.SetACL(t.Context(), "/s/locks", zk.DigestACL(zk.PermAll, "shop", "secret"), framework.AnyVersion)
		require.NoError(t, err)
		all := w.walk(t, "/")
		require.Len(t, all, 2, "the semaphore, and the gate that is unreadable")
		for _, r := range append(all, w.one(t, "/s/leases")) {
			for _, p := range r.Holders {
				require.True(t, p.Unsure, p.Path)
			}
		}
	})
}

// A lease that may not be read may be held, and given back: who waits at a known
// limit does not wait for the other holders alone.
func TestLeaseThatMayNotBeReadIsNoDeadlock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b, c := w.service(t, "a"), w.service(t, "b"), w.service(t, "c")
		hidden := create(t, c, "/s/leases/lease-0000000001", "", framework.Ephemeral)
		held := create(t, a, "/s/leases/lease-0000000002", "", framework.Ephemeral)
		create(t, b, "/s/locks/lock-0000000001", "", framework.Ephemeral)
		waits := create(t, b, "/s/leases/lease-0000000003", "", framework.Ephemeral)
		create(t, b, "/m/lock-0000000001", "", framework.Ephemeral)
		create(t, a, "/m/lock-0000000002", "", framework.Ephemeral)
		limit := create(t, w.Observer, "/s-limit", "\x00\x00\x00\x02", framework.Persistent)
		limits := inspect.WithSharedLimits(func(string) string { return limit })
		for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpExists} {
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: hidden, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		}
		require.Empty(t, w.graph(t, limits).Deadlocks, "c can give its lease back")
		for _, wait := range w.waits(t, "/s", limits) {
			require.ElementsMatch(t, []string{hidden, held, waits}, nodesIn(wait.Holders))
		}

		require.NoError(t, w.Fake.Delete(hidden))
		require.NoError(t, w.Fake.Set(limit, []byte("\x00\x00\x00\x01")))
		require.Len(t, w.graph(t, limits).Deadlocks, 1, "a has the only lease")
	})
}
