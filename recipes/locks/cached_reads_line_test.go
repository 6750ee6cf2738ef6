package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// In these tests, the creation of a node takes a second, so that others of the
// client come meanwhile.
func slowCreates(w *world, times int) {
	w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: times, Do: zktest.DelayReply(time.Second)})
}

// tryLater begins a try.
func tryLater(ctx context.Context, l locks.Locker) *locktest.Pending {
	p := &locktest.Pending{Done: make(chan struct{})}
	go func() {
		defer close(p.Done)
		p.Lease, p.Err = l.TryAcquire(ctx)
	}()
	return p
}

// A reader that only tries waits for the answer that others of its client wait for, and
// is not refused because of them.
func TestReaderThatTriesIsNotRefusedBecauseOfReadersThatWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		slowCreates(w, 1)
		rw := cachedReads(c, path)
		waiting := []*locktest.Pending{locktest.AcquireLater(ctx, rw.ReadLock())}
		synctest.Wait()
		for range 3 {
			waiting = append(waiting, locktest.AcquireLater(ctx, rw.ReadLock()))
		}
		synctest.Wait()
		tried, err := rw.ReadLock().TryAcquire(ctx)
		require.NoError(t, err)
		for _, p := range waiting {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		require.NoError(t, tried.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Readers wait for the node of another one to share it. When a writer of the client
// comes, they will not, and each makes its node. So they do not queue up one
// after the other, with the writer behind all of them.
func TestReadersAheadOfAWriterMakeTheirNodesAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create(path, nil))
		slowCreates(w, -1)
		rw, start := cachedReads(c, path), time.Now()
		readers := []*locktest.Pending{locktest.AcquireLater(ctx, rw.ReadLock())}
		synctest.Wait()
		for range 5 {
			readers = append(readers, locktest.AcquireLater(ctx, rw.ReadLock()))
		}
		synctest.Wait()
		writer := locktest.AcquireLater(ctx, rw.WriteLock())
		for _, p := range readers {
			p.Wait(t)
		}
		require.Equal(t, time.Second, time.Since(start), "all in one round trip")
		for _, p := range readers {
			require.False(t, writer.IsOver())
			require.NoError(t, p.Lease.Release(ctx))
		}
		require.NoError(t, writer.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Somebody asks for the lock while a reader is about to join, and asks the clock. The
// reader gets a node that nobody has asked for.
//
// Promise: No reader joins a shared node whose release was requested.
func TestNoReaderJoinsANodeThatIsAskedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var clock suspendClock
		c, _ := w.Connect(t, insider.WithSuspendClock(clock.suspended).(framework.Option))
		rw := cachedReads(c, path)
		first := locktest.Acquire(t, ctx, rw.ReadLock())
		asked := first.Revoked()
		synctest.Wait()
		slow := make(chan struct{})
		clock.whenAsked(func() { <-slow })
		second := locktest.AcquireLater(ctx, rw.ReadLock())
		synctest.Wait()
		require.NoError(t, locks.Revoke(ctx, w.Observer, first.Path()))
		<-asked
		close(slow)
		require.NotEqual(t, first.Path(), second.Wait(t).Path())
		require.False(t, recipetest.IsClosed(second.Lease.Revoked()))
		require.NoError(t, first.Release(ctx))
		require.NoError(t, second.Lease.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// The node that readers wait for cannot be made. They are not told so one after the
// other.
//
// Promise: Readers that wait for a shared node continue at once if it cannot be created.
func TestReadersWhoseNodeCannotBeMadeGoOnAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		rw := cachedReads(c, path)
		once(t, ctx, locks.NewInterProcessReadWriteLock(w.Observer, path).ReadLock()) // the parent is there now
		refused := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpCreate, Times: -1, Do: zktest.All(zktest.DelayReply(time.Second), zktest.Fail(zktest.ErrNoAuth)),
		})
		begin := time.Now()
		readers := make([]*locktest.Pending, 10)
		for i := range readers {
			readers[i] = take(ctx, rw.ReadLock())
		}
		for _, r := range readers {
			<-r.Done
			require.ErrorIs(t, r.Err, zk.ErrNoAuth)
		}
		require.LessOrEqual(t, time.Since(begin), 3*time.Second)
		refused.Remove()
		hold(t, ctx, rw.ReadLock())
	})
}
