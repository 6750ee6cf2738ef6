package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// take acquires any lock in the background.
func take(ctx context.Context, l recipes.Locker) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.lease, p.err = l.Acquire(ctx)
	}()
	return p
}

// hold acquires any lock, or fails the test.
func hold(t testing.TB, ctx context.Context, l recipes.Locker) *recipes.Lease {
	t.Helper()
	lease, err := l.Acquire(ctx)
	require.NoError(t, err)
	return lease
}

func TestReadersShareAndWritersDoNot(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		a, b := hold(t, ctx, rw.Reader()), hold(t, ctx, rw.Reader())
		_, err := rw.Writer().TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)

		writer := take(ctx, rw.Writer())
		w.waitNodes(t, path, 3)
		_, err = rw.Reader().TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "readers that come after a writer wait for it")
		require.NoError(t, a.Release(ctx))
		require.False(t, writer.over())
		require.NoError(t, b.Release(ctx))
		lease := writer.wait(t)
		require.Greater(t, lease.FencingToken(), b.FencingToken())
		_, err = rw.Writer().TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// Curator's testBasic: many clients, most of them readers; see that readers are together and writers alone.
func TestReadersAndWritersUnderLoad(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		var readers, writers, together atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			c, _ := w.connect(t)
			rw := recipes.NewInterProcessReadWriteLock(c, path)
			all.Go(func() {
				for n := range 30 {
					var err error
					if (i+n)%5 == 0 {
						err = rw.Writer().Do(ctx, func(context.Context) error {
							if writers.Add(1) != 1 || readers.Load() != 0 {
								t.Error("a writer is not alone")
							}
							time.Sleep(time.Millisecond)
							writers.Add(-1)
							return nil
						})
					} else {
						err = rw.Reader().Do(ctx, func(context.Context) error {
							if readers.Add(1) > 1 {
								together.Add(1)
							}
							if writers.Load() != 0 {
								t.Error("a reader is beside a writer")
							}
							time.Sleep(time.Millisecond)
							readers.Add(-1)
							return nil
						})
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.Positive(t, together.Load())
		w.nothingLeft(t, path)
	})
}

// CURATOR-621: the reader that a writer becomes has the writer's place, so that the next writer waits for it.
func TestDowngradeKeepsItsPlace(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.Writer())
		next := take(ctx, recipes.NewInterProcessReadWriteLock(c, path).Writer())
		w.waitNodes(t, path, 2)
		reader := hold(t, writer.Context(), rw.Reader())
		require.Equal(t, writer.Path()[len(writer.Path())-10:], reader.Path()[len(reader.Path())-10:])
		require.Equal(t, writer.FencingToken(), reader.FencingToken(), "the next writer's token must be larger")
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, reader.Context().Err())
		_, err := rw.Reader().TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "another reader waits for the next writer")
		require.False(t, next.over())

		again := hold(t, reader.Context(), rw.Reader()) // re-enters
		require.Equal(t, reader.Path(), again.Path())
		require.NoError(t, reader.Release(ctx))
		require.False(t, next.over())
		require.NoError(t, again.Release(ctx))
		lease := next.wait(t)
		require.Greater(t, lease.FencingToken(), reader.FencingToken())
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

func TestUpgradeIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		reader := hold(t, ctx, rw.Reader())
		for _, acquire := range []func(context.Context) (*recipes.Lease, error){rw.Writer().Acquire, rw.Writer().TryAcquire} {
			_, err := acquire(reader.Context())
			require.ErrorIs(t, err, recipes.ErrUpgrade)
		}
		require.NoError(t, reader.Release(ctx))
		require.NoError(t, hold(t, context.WithoutCancel(reader.Context()), rw.Writer()).Release(ctx), "it is released")

		// From write to read, and to write again, is no upgrade.
		writer := hold(t, ctx, rw.Writer())
		reader = hold(t, writer.Context(), rw.Reader())
		inner := hold(t, reader.Context(), rw.Writer())
		require.Equal(t, writer.Path(), inner.Path())
		for _, l := range []*recipes.Lease{inner, reader, writer} {
			require.NoError(t, l.Release(ctx))
		}
		w.nothingLeft(t, path)
	})
}

// E7: in Curator, who has lost the write lock gets the read lock at once, in front of the new writer.
func TestLostWriterDoesNotDowngrade(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		other, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.Writer())
		next := take(ctx, recipes.NewInterProcessReadWriteLock(other, path).Writer())
		w.waitNodes(t, path, 2)
		w.fake.ExpireSession(c.SessionID())
		<-writer.Context().Done()
		_, err := rw.Reader().Acquire(context.WithoutCancel(writer.Context()))
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.NoError(t, next.wait(t).Release(ctx))
		require.Error(t, writer.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// The write lock is lost, or released, while the reader's node is on its way.
func TestDowngradeThatComesTooLate(t *testing.T) {
	for name, late := range map[string]func(w *world, writer *recipes.Lease, session int64){
		"lost":     func(w *world, _ *recipes.Lease, session int64) { w.fake.ExpireSession(session) },
		"released": func(w *world, writer *recipes.Lease, _ int64) { writer.Release(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), path(t)
				c, _ := w.connect(t)
				other, _ := w.connect(t)
				rw := recipes.NewInterProcessReadWriteLock(c, path)
				writer := hold(t, ctx, rw.Writer())
				next := take(ctx, recipes.NewInterProcessReadWriteLock(other, path).Writer())
				w.waitNodes(t, path, 2)
				w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Times: 1, Do: zktest.Call(func(zktest.Request) {
					go late(w, writer, c.SessionID())
					time.Sleep(time.Second)
				})})
				reader, err := rw.Reader().Acquire(context.WithoutCancel(writer.Context()))
				switch name {
				case "lost":
					require.ErrorIs(t, err, framework.ErrSessionLost)
				case "released":
					require.NoError(t, err, "the write lock is held until the reader has its place")
					synctest.Wait()
					require.False(t, next.over())
					require.NoError(t, reader.Release(ctx))
				}
				require.NoError(t, next.wait(t).Release(ctx))
				writer.Release(ctx)
				w.nothingLeft(t, path)
			})
		})
	}
}

func TestReadersAndWritersAmongTheParticipants(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path, recipes.WithNodeData([]byte("me")))
		var all []*pending
		for i := range 28 { // 20 readers, and 8 writers who wait
			var side recipes.Locker = rw.Reader()
			if i >= 20 {
				side = rw.Writer()
			}
			all = append(all, take(ctx, side))
			w.waitNodes(t, path, i+1)
		}
		list, err := rw.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 28)
		for i, p := range list {
			require.Equal(t, i < 20, p.Holder, i)
			require.Equal(t, i < 20, p.Shared, i)
			require.Equal(t, "me", string(p.Data))
		}
		for _, p := range all {
			require.NoError(t, p.wait(t).Release(ctx))
		}
	})
}

// One release wakes those who can go on, and nobody else.
func TestNoHerdOfReadersAndWriters(t *testing.T) {
	for _, readers := range []int{2, 20, 200} {
		t.Run(fmt.Sprint(readers), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), path(t)
				c, _ := w.connect(t)
				rw := recipes.NewInterProcessReadWriteLock(c, path)
				first := hold(t, ctx, rw.Writer())
				second := take(ctx, rw.Writer())
				w.waitNodes(t, path, 2)
				var all []*pending
				for range readers {
					all = append(all, take(ctx, rw.Reader()))
				}
				w.waitNodes(t, path, 2+readers)
				synctest.Wait()
				require.Len(t, w.fake.Watches(), 2, "the readers share their client's watch on the second writer")
				w.fake.ClearRequests()
				require.NoError(t, first.Release(ctx))
				lease := second.wait(t)
				synctest.Wait()
				require.Len(t, w.requests(), 2, "the readers sleep on")
				require.NoError(t, lease.Release(ctx))
				for _, p := range all {
					require.NoError(t, p.wait(t).Release(ctx))
				}
				w.nothingLeft(t, path)
			})
		})
	}
}

func TestDowngradeBelowAPathThatLooksLikeAWriter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)+"/__WRIT__0000000007/l"
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.Writer())
		reader := hold(t, writer.Context(), rw.Reader())
		require.Len(t, w.nodes(t, path), 2)
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, reader.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A downgrade waits through an interruption like every acquire.
func TestDowngradeOutlastsAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, knife := w.connect(t, framework.WithRetry(retry.None()))
		rw := recipes.NewInterProcessReadWriteLock(c, path)
		writer := hold(t, ctx, rw.Writer())
		knife.refuse(true)
		knife.cut()
		reader := take(writer.Context(), rw.Reader())
		time.Sleep(4 * time.Second)
		knife.refuse(false)
		lease := reader.wait(t)
		require.NoError(t, writer.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)

		// It does not outlast the write lock.
		writer = hold(t, ctx, rw.Writer())
		knife.refuse(true)
		knife.cut()
		_, err := rw.Reader().Acquire(context.WithoutCancel(writer.Context()))
		require.ErrorIs(t, err, framework.ErrSessionLost)
		knife.refuse(false)
		writer.Release(ctx)
		w.nothingLeft(t, path)
	})
}
