package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// take acquires any lock in the background.
func take(ctx context.Context, l locks.Locker) *locktest.Pending {
	p := &locktest.Pending{Done: make(chan struct{})}
	go func() {
		defer close(p.Done)
		p.Lease, p.Err = l.Acquire(ctx)
	}()
	return p
}

// hold acquires any lock, or fails the test.
func hold(t testing.TB, ctx context.Context, l locks.Locker) *locks.Lease {
	t.Helper()
	lease, err := l.Acquire(ctx)
	require.NoError(t, err)
	return lease
}

// A writer becomes a reader at the writer's place in the queue, so that the
// next writer waits for it (CURATOR-621).
//
// Promise: No other writer is admitted while a writer downgrades to a reader.
func TestDowngradeKeepsItsPlace(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		rw := locks.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.WriteLock())
		other, _ := w.Connect(t)
		next := take(ctx, locks.NewInterProcessReadWriteLock(other, path).WriteLock())
		w.WaitNodes(t, path, 2)
		reader := hold(t, writer.Context(), rw.ReadLock())
		require.Equal(t, writer.Path()[len(writer.Path())-10:], reader.Path()[len(reader.Path())-10:])
		require.Equal(t, writer.FencingToken(), reader.FencingToken(), "the next writer's token must be larger")
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, reader.Context().Err())
		_, err := rw.ReadLock().TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "another reader waits for the next writer")
		require.False(t, next.IsOver())

		again := hold(t, reader.Context(), rw.ReadLock()) // this acquire re-enters
		require.Equal(t, reader.Path(), again.Path())
		require.NoError(t, reader.Release(ctx))
		require.False(t, next.IsOver())
		require.NoError(t, again.Release(ctx))
		lease := next.Wait(t)
		require.Greater(t, lease.FencingToken(), reader.FencingToken())
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path)
	})
}

func TestUpgradeIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		rw := locks.NewInterProcessReadWriteLock(c, path)
		reader := hold(t, ctx, rw.ReadLock())
		for _, acquire := range []func(context.Context) (*locks.Lease, error){rw.WriteLock().Acquire, rw.WriteLock().TryAcquire} {
			_, err := acquire(reader.Context())
			require.ErrorIs(t, err, locks.ErrUpgrade)
		}
		require.NoError(t, reader.Release(ctx))
		require.NoError(t, hold(t, context.WithoutCancel(reader.Context()), rw.WriteLock()).Release(ctx), "it is released")

		// An acquire of the write lock under a reader that is itself under the
		// writer is no upgrade.
		writer := hold(t, ctx, rw.WriteLock())
		reader = hold(t, writer.Context(), rw.ReadLock())
		inner := hold(t, reader.Context(), rw.WriteLock())
		require.Equal(t, writer.Path(), inner.Path())
		for _, l := range []*locks.Lease{inner, reader, writer} {
			require.NoError(t, l.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// In Curator, a client that has lost the write lock gets the read lock at
// once, in front of the new writer.
func TestLostWriterDoesNotDowngrade(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		rw := locks.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.WriteLock())
		next := take(ctx, locks.NewInterProcessReadWriteLock(other, path).WriteLock())
		w.WaitNodes(t, path, 2)
		w.Fake.Session(c.SessionID()).Expire()
		<-writer.Context().Done()
		_, err := rw.ReadLock().Acquire(context.WithoutCancel(writer.Context()))
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.NoError(t, next.Wait(t).Release(ctx))
		require.Error(t, writer.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// The writer loses or releases the write lock while the reader's node is on
// its way.
func TestDowngradeThatComesTooLate(t *testing.T) {
	for name, late := range map[string]func(w *world, writer *locks.Lease, session int64){
		"lost":     func(w *world, _ *locks.Lease, session int64) { w.Fake.Session(session).Expire() },
		"released": func(w *world, writer *locks.Lease, _ int64) { writer.Release(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				other, _ := w.Connect(t)
				rw := locks.NewInterProcessReadWriteLock(c, path)
				writer := hold(t, ctx, rw.WriteLock())
				next := take(ctx, locks.NewInterProcessReadWriteLock(other, path).WriteLock())
				w.WaitNodes(t, path, 2)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Times: 1, Do: zktest.Call(func(zktest.Request) {
					go late(w, writer, c.SessionID())
					time.Sleep(time.Second)
				})})
				reader, err := rw.ReadLock().Acquire(context.WithoutCancel(writer.Context()))
				switch name {
				case "lost":
					require.ErrorIs(t, err, framework.ErrSessionLost)
				case "released":
					require.NoError(t, err, "the write lock is held until the reader has its place")
					synctest.Wait()
					require.False(t, next.IsOver())
					require.NoError(t, reader.Release(ctx))
				}
				require.NoError(t, next.Wait(t).Release(ctx))
				writer.Release(ctx)
				w.NothingLeft(t, path)
			})
		})
	}
}

func TestReadersAndWritersAmongTheParticipants(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var rw *locks.InterProcessReadWriteLock
		var all []*locktest.Pending
		for i := range 28 { // 20 clients that read, and 8 that wait to write
			c, _ := w.Connect(t)
			rw = locks.NewInterProcessReadWriteLock(c, path, locks.WithNodeData([]byte("me")))
			var side locks.Locker = rw.ReadLock()
			if i >= 20 {
				side = rw.WriteLock()
			}
			all = append(all, take(ctx, side))
			w.WaitNodes(t, path, i+1)
		}
		list, err := rw.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 28)
		for i, p := range list {
			require.Equal(t, i < 20, p.Holder, i)
			require.Equal(t, i < 20, p.Reader, i)
			require.Equal(t, "me", string(p.Data))
		}
		for _, p := range all {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
	})
}

// One release wakes only the contenders that can go on.
func TestNoHerdOfReadersAndWriters(t *testing.T) {
	for _, readers := range []int{2, 20, 200} {
		t.Run(fmt.Sprint(readers), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				other, _ := w.Connect(t)
				first := hold(t, ctx, writeLock(other, path))
				third, _ := w.Connect(t)
				second := take(ctx, writeLock(third, path))
				synctest.Wait()
				all := takeAll(ctx, readers, readLock(c, path))
				require.Len(t, w.Nodes(t, path), 3)
				w.Fake.ClearRequests()
				require.NoError(t, first.Release(ctx))
				lease := second.Wait(t)
				synctest.Wait()
				require.Len(t, w.Requests(), 2, "the readers sleep on")
				require.NoError(t, lease.Release(ctx))
				releaseAll(t, ctx, all)
				w.NothingLeft(t, path)
			})
		})
	}
}

func TestDowngradeBelowAPathThatLooksLikeAWriter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)+"/__WRIT__0000000007/l"
		c, _ := w.Connect(t)
		rw := locks.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.WriteLock())
		reader := hold(t, writer.Context(), rw.ReadLock())
		require.Len(t, w.Nodes(t, path), 2)
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, reader.Release(ctx))
		w.NothingLeft(t, path)
	})
}
