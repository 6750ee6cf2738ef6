package locks_test

import (
	"context"
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

// joinTime is for how long readers join the node of their client after a listing.
const joinTime = 100 * time.Millisecond

// takeAll begins n acquires.
func takeAll(ctx context.Context, n int, l locks.Locker) (all []*locktest.Pending) {
	for range n {
		all = append(all, take(ctx, l))
	}
	synctest.Wait()
	return all
}

// releaseAll releases what takeAll has acquired.
func releaseAll(t *testing.T, ctx context.Context, all []*locktest.Pending) {
	t.Helper()
	for _, p := range all {
		require.NoError(t, p.Wait(t).Release(ctx))
	}
}

// A writer of another client queues behind the node that the readers of a client wait
// for. All of them share that node. With one reader in each of its turns, a client
// with a hundred of them would wait for a hundred writers.
func TestReadersThatWaitedForTheNodeShareItAlthoughAWriterIsBehindIt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		wrote := hold(t, ctx, writeLock(other, path))
		readers := takeAll(ctx, 5, readLock(c, path))
		writer := take(ctx, writeLock(w.Observer, path))
		synctest.Wait()
		require.NoError(t, wrote.Release(ctx))
		synctest.Wait()
		late := take(ctx, readLock(c, path))
		synctest.Wait()
		require.False(t, late.IsOver(), "the writer is known by now")
		for _, p := range readers {
			require.True(t, p.IsOver())
		}
		releaseAll(t, ctx, readers)
		synctest.Wait()
		require.False(t, late.IsOver())
		require.NoError(t, writer.Wait(t).Release(ctx))
		require.NoError(t, late.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A writer's release admits all readers that wait, and costs their client no request.
// The next reader lists the queue once, since no listing has told who came meanwhile.
func TestReadersBehindAWriterGoOnWithoutARequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(other, path))
		readers := takeAll(ctx, 50, readLock(c, path))
		w.Fake.ClearRequests()
		require.NoError(t, writer.Release(ctx))
		synctest.Wait()
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.Requests())
		late := takeAll(ctx, 50, readLock(c, path))
		require.Equal(t, []zktest.Op{zktest.OpDelete, zkinside.OpGetChildren2}, w.Requests())
		require.Equal(t, readers[0].Wait(t).Path(), late[0].Wait(t).Path())
		releaseAll(t, ctx, append(readers, late...))
		w.NothingLeft(t, path)
	})
}

// Goroutines of one client try at once. None of them is in the way of another.
func TestReadersThatTryAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(joinTime / 2)})
		tryAll := func() (all []*locktest.Pending) {
			for range 10 {
				all = append(all, tryLater(ctx, readLock(c, path)))
				synctest.Wait()
			}
			return all
		}
		first := tryAll()
		time.Sleep(2 * joinTime)
		second := tryAll() // one of them lists the queue
		releaseAll(t, ctx, append(first, second...))

		writer := hold(t, ctx, writeLock(w.Observer, path))
		w.Fake.ClearRequests()
		for _, p := range tryAll() {
			<-p.Done
			require.Equal(t, 1, notAcquired(t, p.Err).Ahead)
		}
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpCreate))
		require.NoError(t, writer.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// The reader that lists the queue for those behind it gives up. The next one lists it.
func TestReadersOutlastTheOneThatLooksForThem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		first := hold(t, ctx, readLock(c, path))
		time.Sleep(2 * joinTime)
		slow := w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Do: zktest.DelayReply(2 * time.Second)})
		going := take(recipetest.Within(t, time.Second), readLock(c, path))
		synctest.Wait()
		readers := takeAll(ctx, 5, readLock(c, path))
		<-going.Done
		require.ErrorIs(t, going.Err, context.DeadlineExceeded)
		require.NotErrorIs(t, going.Err, locks.ErrNotAcquired, "nobody has kept it out")
		for _, p := range readers {
			require.Equal(t, first.Path(), p.Wait(t).Path())
		}
		require.Equal(t, 1, slow.Hits())
		require.NoError(t, first.Release(ctx))
		releaseAll(t, ctx, readers)
		w.NothingLeft(t, path)
	})
}

// Two goroutines of a client give up at the same time. The third keeps the place that
// their client has in the queue.
//
// Promise: A goroutine that gives up leaves its client's place to the next one.
func TestWaitersThatGiveUpTogetherLeaveTheirPlace(t *testing.T) {
	for range 20 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			other, _ := w.Connect(t)
			holder := hold(t, ctx, locks.NewInterProcessMutex(other, path))
			going, cancel := context.WithCancel(ctx)
			leaving := takeAll(going, 5, locks.NewInterProcessMutex(c, path))
			staying := take(ctx, locks.NewInterProcessMutex(c, path))
			synctest.Wait()
			third, _ := w.Connect(t)
			last := take(ctx, locks.NewInterProcessMutex(third, path))
			synctest.Wait()
			cancel()
			for _, p := range leaving {
				<-p.Done
				require.ErrorIs(t, p.Err, context.Canceled)
			}
			synctest.Wait()
			require.NoError(t, holder.Release(ctx))
			lease := staying.Wait(t)
			require.False(t, last.IsOver())
			require.NoError(t, lease.Release(ctx))
			require.NoError(t, last.Wait(t).Release(ctx))
			w.NothingLeft(t, path)
		})
	}
}
