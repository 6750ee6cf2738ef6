package locks_test

import (
	"maps"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// requestCounts returns how many requests of each kind were made.
func requestCounts(w *world) map[zktest.Op]int {
	counts := map[zktest.Op]int{}
	for _, op := range w.Requests() {
		counts[op]++
	}
	return counts
}

// One request lists all queues, on servers since 3.9. Only the first acquire on a
// connection asks the server for a proof that it takes that.
func TestRequestsOfAnAtomicMultiLock(t *testing.T) {
	for version, together := range map[zktest.Version]bool{zktest.Version3510: false, zktest.Version384: false, zktest.Version393: true} {
		for _, n := range []int{1, 2, 3, 8} {
			recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
				countOfAnAtomicMultiLock(t, &world{virtual}, n, together)
			}, zktest.WithVersion(version))
		}
	}
}

// listings are the requests that list so many queues.
func listings(n int, together bool) map[zktest.Op]int {
	switch {
	case n == 0:
		return map[zktest.Op]int{}
	case n > 1 && together:
		return map[zktest.Op]int{zktest.OpMultiRead: 1}
	}
	return map[zktest.Op]int{zktest.OpGetChildren2: n}
}

func countOfAnAtomicMultiLock(t *testing.T, w *world, n int, together bool) {
	ctx, paths := w.Patience(t), pathsBelow("/l", n)
	c, _ := w.Connect(t)
	rival, _ := w.Connect(t)
	l := locks.NewAtomicMultiLock(c, paths)
	require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx)) // makes the parents
	require.Equal(t, min(1, n-1), w.Fake.CountRequests(zktest.OpRemoveWatches), "the probe")
	counts := func(n int, others map[zktest.Op]int) map[zktest.Op]int {
		all := listings(n, together)
		maps.Copy(all, others)
		return all
	}

	synctest.Wait()
	w.Fake.ClearRequests()
	lease := locktest.Acquire(t, ctx, l)
	again := locktest.Acquire(t, lease.Context(), l)
	require.NoError(t, again.Release(ctx))
	require.NoError(t, lease.Release(ctx))
	deletion := counts(n, map[zktest.Op]int{zktest.OpMulti: 2})
	if n == 1 {
		deletion = counts(n, map[zktest.Op]int{zktest.OpMulti: 1, zktest.OpDelete: 1})
	}
	require.Equal(t, deletion, requestCounts(w))

	// Another client has all of the locks.
	held := locktest.Acquire(t, ctx, locks.NewAtomicMultiLock(rival, paths))
	w.Fake.ClearRequests()
	_, err := l.TryAcquire(ctx)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.Equal(t, counts(n, map[zktest.Op]int{zktest.OpMulti: 2, zktest.OpGetData: 1}), requestCounts(w), "a try")

	w.Fake.ClearRequests()
	next := locktest.AcquireLater(ctx, l)
	synctest.Wait()
	require.Equal(t, counts(n, map[zktest.Op]int{zktest.OpMulti: 1, zktest.OpGetData: 2}), requestCounts(w), "a wait")
	w.Fake.ClearRequests()
	require.NoError(t, held.Release(ctx))
	lease = next.Wait(t)
	deletion = map[zktest.Op]int{zktest.OpMulti: 1}
	if n == 1 {
		deletion = map[zktest.Op]int{zktest.OpDelete: 1}
	}
	require.Equal(t, counts(n-1, deletion), requestCounts(w), "a hand-over")
	require.NoError(t, lease.Release(ctx))
	w.NoWatches(t)
}
