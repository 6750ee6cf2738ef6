package inspect_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

// A participant says whose it is: its node, its token, its session, since when,
// and the process.
func TestMutex(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		begin := time.Now()
		a, b := w.service(t, "a"), w.service(t, "b")
		held := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(a, path))
		waiting := w.acquireBehind(t, locks.NewInterProcessMutex(b, path), path, 2)

		r := w.one(t, path)
		require.Equal(t, inspect.Mutex, r.Kind)
		require.Equal(t, "curator", r.Layout)
		require.Equal(t, []inspect.Kind{"leader_selector"}, r.MayBe)
		require.Equal(t, []string{"a"}, services(r.Holders))
		require.Equal(t, []string{"b"}, services(r.Waiters))
		holder, waiter := r.Holders[0], r.Waiters[0]
		host, err := os.Hostname()
		require.NoError(t, err)
		require.Equal(t, held.Path(), holder.Path)
		require.Equal(t, held.FencingToken(), holder.Czxid)
		require.Equal(t, a.SessionID(), holder.Session)
		require.Equal(t, os.Getpid(), holder.PID)
		require.Equal(t, host, holder.Host)
		require.WithinDuration(t, begin, holder.Since, time.Minute)
		require.WithinDuration(t, begin, holder.Waiting, time.Minute)
		require.Equal(t, 1, waiter.Position)
		require.False(t, holder.Revoked)

		require.NoError(t, locks.Revoke(w.Patience(t), w.Observer, held.Path()))
		require.True(t, w.one(t, path).Holders[0].Revoked)
		require.NoError(t, held.Release(w.Patience(t)))
		lease := waiting.Wait(t)
		require.Equal(t, []string{"b"}, services(w.one(t, path).Holders))
		require.NoError(t, lease.Release(w.Patience(t)))
		w.NothingLeft(t, path)
	})
}

// Readers hold together. A reader behind a writer waits, although the holders
// are readers.
func TestReadWriteLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		lock := func(name string) *locks.InterProcessReadWriteLock {
			return locks.NewInterProcessReadWriteLock(w.service(t, name), path)
		}
		ctx := w.Patience(t)
		one := locktest.Acquire(t, ctx, lock("one").ReadLock())
		two := locktest.Acquire(t, ctx, lock("two").ReadLock())
		writer := w.acquireBehind(t, lock("writer").WriteLock(), path, 3)
		late := w.acquireBehind(t, lock("late").ReadLock(), path, 4)

		r := w.one(t, path)
		require.Equal(t, inspect.ReadWriteLock, r.Kind)
		require.Empty(t, r.MayBe)
		require.Equal(t, []string{"one", "two"}, services(r.Holders))
		require.Equal(t, []string{"writer", "late"}, services(r.Waiters))
		require.True(t, r.Holders[0].Reader)
		require.False(t, r.Waiters[0].Reader)
		require.True(t, r.Waiters[1].Reader)

		waits := w.waits(t, path)
		require.Len(t, waits, 1)
		require.Equal(t, []string{"writer", "late"}, services(waits[0].Waiters))
		require.Equal(t, []string{"one", "two"}, services(waits[0].Holders), "the writer ahead waits for them, too")
		require.NoError(t, one.Release(ctx))
		require.NoError(t, two.Release(ctx))
		require.NoError(t, writer.Wait(t).Release(ctx))
		require.NoError(t, late.Wait(t).Release(ctx))
	})
}

// The leases are held, and the gate is the queue of those that wait. A
// semaphore does not say its limit. Without it, the leases of the first at the
// gate are unsure.
func TestSemaphore(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx := w.Patience(t)
		semaphore := func(name string) *locks.InterProcessSemaphore {
			return locks.NewInterProcessSemaphore(w.service(t, name), path, locks.SharedLimit(path+"-limit", 2))
		}
		limits := inspect.WithSharedLimits(func(semaphore string) string { return semaphore + "-limit" })
		one := locktest.Acquire(t, ctx, semaphore("one"))
		r := w.one(t, path)
		require.Equal(t, inspect.Semaphore, r.Kind)
		require.Equal(t, []inspect.Kind{"semaphore_mutex"}, r.MayBe)
		require.Nil(t, r.Limit)

		two := locktest.Acquire(t, ctx, semaphore("two"))
		three := w.acquireBehind(t, semaphore("three"), path+"/locks", 1)
		four := w.acquireBehind(t, semaphore("four"), path+"/locks", 2)
		r = w.one(t, path, limits)
		require.Equal(t, 2, *r.Limit)
		require.Empty(t, r.MayBe)
		require.Equal(t, []string{"one", "two"}, services(r.Holders))
		require.Equal(t, []string{"three", "four"}, services(r.Waiters))
		require.Equal(t, 3, r.Waiters[1].Position)

		r = w.one(t, path)
		require.Equal(t, []string{"one", "two"}, services(r.Holders))
		require.False(t, r.Holders[1].Unsure)
		require.NotContains(t, r.Holders[1].String(), "may wait")
		require.Equal(t, []string{"three", "four"}, services(r.Waiters))
		require.Equal(t, []string{"one", "two"}, services(w.waits(t, path)[0].Holders))

		inside := w.one(t, path+"/leases")
		require.Equal(t, inspect.Semaphore, inside.Kind)
		require.Equal(t, nodesOf(r), nodesOf(inside))
		gate := w.one(t, path+"/locks")
		require.Equal(t, inspect.Mutex, gate.Kind)
		require.Equal(t, []inspect.Kind{"leader_selector", inspect.Semaphore}, gate.MayBe)

		require.NoError(t, one.Release(ctx))
		require.NoError(t, two.Release(ctx))
		require.NoError(t, three.Wait(t).Release(ctx))
		require.NoError(t, four.Wait(t).Release(ctx))
	})
}

func nodesOf(r inspect.Recipe) []string { return nodesIn(append(r.Holders, r.Waiters...)) }

// The first candidate of a latch leads. Candidates have the ids that they were
// given.
func TestLeaders(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		for i, name := range []string{"one", "two"} {
			latch, err := leader.NewLatch(w.service(t, name), path+"/latch", leader.WithID("id of "+name))
			require.NoError(t, err)
			t.Cleanup(func() { latch.Shutdown(w.Patience(t)) })
			w.WaitNodes(t, path+"/latch", i+1)
		}
		r := w.one(t, path+"/latch")
		require.Equal(t, inspect.LeaderLatch, r.Kind)
		require.Empty(t, r.MayBe)
		require.Equal(t, []string{"id of one"}, ids(r.Holders))
		require.Equal(t, []string{"id of two"}, ids(r.Waiters))
		require.Empty(t, w.waits(t, path), "candidates do other work meanwhile")
	})
}

// Members of a group and persistent nodes are registrations.
func TestRegistrations(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx := w.Patience(t)
		c := w.service(t, "workers")
		group := nodes.NewGroup(c, path)
		for _, id := range []string{"w-2", "w-1"} {
			member, err := group.Join(ctx, id, []byte("payload of "+id))
			require.NoError(t, err)
			defer member.Leave(ctx)
		}
		kept := create(t, c, path+"/kept", "not ephemeral", framework.Persistent)
		r := w.one(t, path)
		require.Equal(t, inspect.Registrations, r.Kind)
		require.Equal(t, []string{path + "/w-1", path + "/w-2"}, nodesOf(r))
		require.Equal(t, []string{"payload of w-1", "payload of w-2"}, ids(r.Holders))
		require.NoError(t, c.Delete(ctx, kept, framework.AnyVersion))
	})
}

// Nothing is reported of what nobody uses.
func TestUnusedPathsAreNotListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, path := range []string{"/a/locks", "/a/leases", "/b", "/locks", "/c/d/e", "/s-__lock__", "/q/entries", "/q/taken"} {
			create(t, w.Observer, path, "", framework.Container)
		}
		require.Empty(t, w.walk(t, "/"))
	})
}

// Its holder has released the lock, and nobody gets it for a while.
func TestLockThatIsKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		a := w.service(t, "a")
		until := time.Now().Add(time.Minute)
		policy := locks.WithReleasePolicy(locks.ReleasePolicy{MinimumHold: time.Minute})
		held := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(a, path, policy))
		require.True(t, w.one(t, path).Holders[0].KeptUntil.IsZero())
		require.NoError(t, held.Release(w.Patience(t)))
		holder := w.one(t, path).Holders[0]
		require.Equal(t, "a", holder.Service)
		require.WithinDuration(t, until, holder.KeptUntil, time.Millisecond)
		require.Contains(t, holder.String(), " (released, kept until "+until.UTC().Format(time.RFC3339)+")")
		time.Sleep(time.Minute)
		w.NothingLeft(t, path)
	})
}
