package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
)

// Readers and writers of one client are admitted in the order of arrival,
// although most of them wait in the process.
//
// Promise: Readers and writers of one client keep the order in which they arrive.
func TestReadersAndWritersOfOneClientKeepTheirOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		var all []*locktest.Pending
		for i := range 40 {
			side := readLock
			if i%4 == 0 {
				side = writeLock
			}
			all = append(all, take(ctx, side(c, path)))
			synctest.Wait()
		}
		require.Len(t, w.Nodes(t, path), 1)
		for len(all) > 0 {
			require.True(t, all[0].IsOver(), "a writer")
			for _, p := range all[1:] {
				require.False(t, p.IsOver())
			}
			require.NoError(t, all[0].Wait(t).Release(ctx))
			synctest.Wait()
			for _, p := range all[1:4] {
				require.True(t, p.IsOver(), "a reader")
			}
			for _, p := range all[4:] {
				require.False(t, p.IsOver())
			}
			for _, p := range all[1:4] {
				require.NoError(t, p.Wait(t).Release(ctx))
			}
			all = all[4:]
			synctest.Wait()
		}
		w.NothingLeft(t, path)
	})
}

// Readers wait in the process behind a writer that gives up there. They go on
// at that moment.
//
// Promise: Readers continue when the writer ahead of them in the process gives up.
func TestReadersGoOnWhenTheWriterBeforeThemGivesUpInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		first := hold(t, ctx, readLock(c, path))
		going := take(recipetest.Within(t, time.Minute), writeLock(c, path))
		synctest.Wait()
		readers := takeAll(ctx, 5, readLock(c, path))
		require.Len(t, w.Nodes(t, path), 1)
		_, err := readLock(c, path).TryAcquire(ctx)
		require.Equal(t, 7, notAcquired(t, err).Ahead)
		<-going.Done
		require.ErrorIs(t, going.Err, context.DeadlineExceeded)
		synctest.Wait()
		for _, p := range readers {
			require.True(t, p.IsOver())
			require.Equal(t, first.Path(), p.Wait(t).Path())
		}
		require.NoError(t, first.Release(ctx))
		releaseAll(t, ctx, readers)
		w.NothingLeft(t, path)
	})
}
