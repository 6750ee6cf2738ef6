package locks_test

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
)

// atTheEndOfTheSequence runs a scenario where the next sequential child of
// each path gets the last number but one that a server counts. Later children
// share the last number, or get a negative one. The test is parallel from here
// on.
func atTheEndOfTheSequence(t *testing.T, paths []string, scenario func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	const next = math.MaxInt32 - 1
	t.Run("virtual", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, w *world) {
			for _, path := range paths {
				for i := range strings.Count(path, "/") - 1 {
					w.Fake.Create(strings.Join(strings.Split(path, "/")[:i+2], "/"), nil)
				}
				require.NoError(t, w.Fake.Create(path, nil))
				require.NoError(t, zkinside.Of(w.Fake).SetSequence(path, next))
			}
			scenario(t, w)
		})
	})
	if onRealSequence != nil {
		t.Run("real", func(t *testing.T) { onRealSequence(t, paths, next, scenario) })
	}
}

// onRealSequence runs a scenario on a real server whose next sequential nodes below
// the paths have this number. It is nil without the build tag real.
var onRealSequence func(t *testing.T, paths []string, next int32, scenario func(t *testing.T, w *world))

// takeTurns lets several clients take a lock many times. It fails the test if
// two of them ever have the lock at the same time. It returns the paths of
// their nodes.
func takeTurns(t *testing.T, w *world, clients, rounds int, lockOf func(c *framework.Client) locks.Locker) (nodes []string) {
	t.Helper()
	ctx := w.Patience(t)
	var inside, overlaps atomic.Int32
	var mu sync.Mutex
	var all sync.WaitGroup
	for range clients {
		c, _ := w.Connect(t)
		lock := lockOf(c)
		all.Go(func() {
			for range rounds {
				lease, err := lock.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) > 1 {
					overlaps.Add(1)
				}
				if _, _, err := w.Observer.Exists(ctx, "/"); err != nil { // the holder stays for a while
					t.Error(err)
				}
				inside.Add(-1)
				mu.Lock()
				nodes = append(nodes, lease.Path())
				mu.Unlock()
				if err := lease.Release(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, overlaps.Load(), "two holders at the same time")
	return nodes
}

func TestOneHolderWhenTheSequenceIsUsedUp(t *testing.T) {
	kinds := []struct {
		paths []string
		lock  func(c *framework.Client) locks.Locker
	}{
		{[]string{"/mutex"}, func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/mutex") }},
		{[]string{"/writer"}, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, "/writer").WriteLock()
		}},
		{[]string{"/semaphore/locks", "/semaphore/leases"}, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessSemaphoreMutex(c, "/semaphore")
		}},
	}
	var paths []string
	for _, kind := range kinds {
		paths = append(paths, kind.paths...)
	}
	atTheEndOfTheSequence(t, paths, func(t *testing.T, w *world) {
		for _, kind := range kinds {
			nodes := takeTurns(t, w, 6, 15, kind.lock)
			last := 0
			for _, node := range nodes {
				if strings.HasSuffix(node, "-2147483647") || strings.HasSuffix(node, "_2147483647") {
					last++
				}
			}
			require.Greater(t, last, 10, "the numbers are used up: %v", nodes)
			for _, path := range kind.paths {
				w.NothingLeft(t, path)
			}
		}
	})
}

// Nodes of one transaction, and of requests under way at the same time, get
// negative numbers. These numbers say nothing about the order of arrival.
//
// Promise: The queue keeps the order of arrival after the sequence number overflows.
func TestQueueIsInOrderOfArrivalWhenTheSequenceIsUsedUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		require.NoError(t, w.Fake.Create("/l", nil))
		var queue []*locktest.Pending
		for i, number := range []int32{math.MaxInt32, math.MinInt32 + 5, math.MaxInt32, math.MinInt32, math.MaxInt32, -1} {
			c, _ := w.Connect(t)
			require.NoError(t, zkinside.Of(w.Fake).SetSequence("/l", number))
			queue = append(queue, locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c, "/l")))
			w.WaitNodes(t, "/l", i+1)
		}
		list, err := locks.NewInterProcessMutex(w.Observer, "/l").Participants(ctx)
		require.NoError(t, err)
		for i, next := range queue {
			lease := next.Wait(t)
			require.Equal(t, list[i].Path, lease.Path())
			synctest.Wait()
			for _, waiter := range queue[i+1:] {
				require.False(t, waiter.IsOver())
			}
			require.NoError(t, lease.Release(ctx))
		}
	})
}

// A downgraded reader takes its writer's place by its writer's number. Where
// that number does not give the writer's place, a waiting writer would not see
// the reader.
func TestDowngradeIsRefusedWhenTheSequenceIsUsedUp(t *testing.T) {
	atTheEndOfTheSequence(t, []string{"/l"}, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		for _, refused := range []bool{false, true} {
			writer, err := rwOf(c).WriteLock().Acquire(ctx)
			require.NoError(t, err)
			reader, err := rwOf(c).ReadLock().Acquire(writer.Context())
			if refused {
				require.ErrorIs(t, err, locks.ErrCorrupted)
			} else {
				require.NoError(t, err)
				require.NoError(t, reader.Release(ctx))
			}
			require.NoError(t, writer.Context().Err())
			require.NoError(t, writer.Release(ctx))
		}
	})
}
