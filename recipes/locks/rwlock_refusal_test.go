package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Readers have the lock, and the server is slow. The context of another reader
// ends before that has seen the queue: nobody has kept it out.
func TestReaderIsNotToldThatReadersKeepItOut(t *testing.T) {
	for name, slow := range map[string]zktest.Op{"create": zktest.OpCreate, "look": zktest.OpGetChildren2} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				first, second := hold(t, ctx, readLock(c, path)), hold(t, ctx, readLock(c, path))
				w.Fake.Inject(zktest.Rule{Op: slow, Times: -1, Do: zktest.DelayRequest(time.Minute)})
				_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Second))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, locks.ErrNotAcquired)
				require.NoError(t, first.Release(ctx))
				require.NoError(t, second.Release(ctx))
			})
		})
	}
}

// The same, for one that waits for the node of another reader of its client.
func TestReaderThatWaitsForANodeIsNotToldThatReadersKeepItOut(t *testing.T) {
	for name, held := range map[string]bool{"nobody holds": false, "a reader holds": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				rw := locks.NewInterProcessReadWriteLock(c, path, locks.WithCachedLock(1, time.Minute))
				if held {
					hold(t, ctx, rw.ReadLock()) // nobody else may use its node
				}
				slow := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.DelayRequest(time.Minute)})
				first := take(ctx, rw.ReadLock())
				synctest.Wait()
				_, err := rw.ReadLock().Acquire(recipetest.Within(t, time.Second))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, locks.ErrNotAcquired)
				require.EqualValues(t, 1, slow.Hits(), "it makes no node")
				slow.Remove()
				require.NoError(t, first.Wait(t).Release(ctx))
			})
		})
	}
}

// There is no connection, so that nobody has a node. Each is told why.
func TestReaderThatWaitsForANodeIsToldOfTheOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		rw := cachedReads(c, path)
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		first := take(ctx, rw.ReadLock())
		synctest.Wait()
		_, err := rw.ReadLock().Acquire(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.NotErrorIs(t, err, locks.ErrNotAcquired)
		network.Refuse(false)
		require.NoError(t, first.Wait(t).Release(ctx))
	})
}

// A reader that has no node yet comes after a writer of its client that has one,
// and waits for another reader.
func TestReaderIsToldOfTheWriterThatCameBefore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		reader := hold(t, ctx, readLock(c, path))
		writer := take(ctx, writeLock(c, path))
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.DelayRequest(time.Minute)})
		_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Second))
		refused := notAcquired(t, err)
		require.Equal(t, reader.Path(), path+"/"+refused.Holder)
		require.Equal(t, 2, refused.Ahead)
		require.NoError(t, reader.Release(ctx))
		require.NoError(t, writer.Wait(t).Release(ctx))
	})
}

// A reader has seen a writer in front of it. Another that ends before it has seen
// the queue is told of that.
func TestReaderIsToldOfTheWriterThatAnotherHasSeen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		others, _ := w.Connect(t, framework.WithServiceName("others"))
		c, _ := w.Connect(t)
		holder := hold(t, ctx, readLock(others, path))
		writer := take(ctx, writeLock(others, path))
		synctest.Wait()
		reader := take(ctx, readLock(c, path))
		time.Sleep(time.Second) // it has read the holder's node
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.DelayRequest(time.Minute)})
		_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Second))
		require.Equal(t, "others", notAcquired(t, err).Identity().Service)
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, writer.Wait(t).Release(ctx))
		require.NoError(t, reader.Wait(t).Release(ctx))
	})
}

// A reader of this client has released the lock just before another comes, which
// waits for a writer that others have seen. It is not told of that reader.
func TestReaderIsNotToldOfOneThatHasReleasedBeforeItCame(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		other, _ := w.Connect(t, framework.WithServiceName("writer"))
		c, _ := w.Connect(t)
		reader := hold(t, ctx, readLock(c, path))
		writer := take(ctx, writeLock(other, path))
		synctest.Wait()
		waiter := take(ctx, readLock(c, path))
		synctest.Wait()
		require.NoError(t, reader.Release(ctx))
		_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Millisecond))
		refused := notAcquired(t, err)
		require.Equal(t, "writer", refused.Identity().Service)
		require.Equal(t, 2, refused.Ahead)
		require.NoError(t, writer.Wait(t).Release(ctx))
		require.NoError(t, waiter.Wait(t).Release(ctx))
	})
}
