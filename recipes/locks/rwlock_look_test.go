package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Readers of three clients come all the time, and each is there before the one before
// it has gone. A writer of another client waits for those that came before it, and for
// those that came before their client heard of it.
//
// Promise: A writer waits at most 100 ms longer for readers who arrive after it.
func TestWriterBehindAStreamOfReaders(t *testing.T) {
	for name, opts := range map[string][]locks.ReadWriteOption{
		"plain": nil, "cached": {idleFor(1000, time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				const every, held = 10 * time.Millisecond, 50 * time.Millisecond
				ctx, path := w.Patience(t), recipetest.Path(t)
				streaming, stop := context.WithCancel(ctx)
				var all sync.WaitGroup
				for range 3 {
					c, _ := w.Connect(t)
					read := locks.NewInterProcessReadWriteLock(c, path, opts...).ReadLock()
					all.Go(func() {
						for ; streaming.Err() == nil; time.Sleep(every) {
							all.Go(func() {
								lease := hold(t, ctx, read)
								time.Sleep(held)
								_ = lease.Release(ctx)
							})
						}
					})
				}
				for range 20 {
					time.Sleep(time.Second)
					begin := time.Now()
					wrote := hold(t, ctx, writeLock(w.Observer, path))
					require.LessOrEqual(t, time.Since(begin), joinTime+held+every)
					time.Sleep(held)
					require.NoError(t, wrote.Release(ctx))
				}
				stop()
				all.Wait()
				w.NothingLeft(t, path)
			})
		})
	}
}

// A writer goes on as a reader while readers of its client wait. A writer of another
// client that queued before them is before them.
func TestReadersBehindADowngradedWriter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		writer := hold(t, ctx, writeLock(c, path))
		next := take(ctx, writeLock(w.Observer, path))
		synctest.Wait()
		readers := takeAll(ctx, 5, readLock(c, path))
		downgraded := hold(t, writer.Context(), readLock(c, path))
		require.NoError(t, writer.Release(ctx))
		synctest.Wait()
		for _, p := range append(readers, next) {
			require.False(t, p.IsOver())
		}
		require.NoError(t, downgraded.Release(ctx))
		wrote := next.Wait(t)
		synctest.Wait()
		for _, p := range readers {
			require.False(t, p.IsOver())
		}
		require.NoError(t, wrote.Release(ctx))
		for _, p := range readers {
			require.Equal(t, readers[0].Wait(t).Path(), p.Wait(t).Path())
			require.Greater(t, p.Lease.FencingToken(), wrote.FencingToken())
		}
		releaseAll(t, ctx, readers)
		w.NothingLeft(t, path)
	})
}
