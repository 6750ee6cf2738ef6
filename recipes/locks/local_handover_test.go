package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestLocalHandOverCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, handingOver(100, time.Hour))
		queue := queueUp(ctx, m, 50)
		w.Fake.ClearRequests()
		first := queue[0].Wait(t)
		token := first.FencingToken()
		require.NoError(t, first.Release(ctx))
		for i, p := range queue[1:] {
			lease := p.Wait(t) // leases come in the order of arrival
			require.Equal(t, token, lease.FencingToken())
			require.NoError(t, lease.Context().Err())
			if i < len(queue)-2 {
				require.NoError(t, lease.Release(ctx))
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
				require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
				continue
			}
			require.Empty(t, w.Requests())
			require.NoError(t, lease.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// A process hands a lock over a limited number of times, and for a limited
// time. Hand-over therefore does not starve other processes.
func TestLocalHandOverIsBounded(t *testing.T) {
	for name, opt := range map[string]locks.MutexOption{
		"count": handingOver(3, time.Hour),
		"time":  handingOver(1000, 10*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				other, _ := w.Connect(t)
				m := locks.NewInterProcessMutex(c, path, opt)
				ours := queueUp(ctx, m, 10)
				theirs := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
				w.WaitNodes(t, path, 2)
				turns := 0
				for _, p := range ours {
					lease := p.Wait(t)
					turns++
					time.Sleep(3 * time.Second)
					require.NoError(t, lease.Release(ctx))
					synctest.Wait()
					if theirs.IsOver() {
						break
					}
				}
				require.Equal(t, 4, turns, "the first, and three hand-overs")
				require.NoError(t, theirs.Wait(t).Release(ctx))
				for _, p := range ours[turns:] {
					require.NoError(t, p.Wait(t).Release(ctx))
				}
				w.NothingLeft(t, path)
			})
		})
	}
}

// The client watches the node once, however often the lock changes hands. The
// present holder learns of the node's deletion.
func TestHandedOverLockIsStillGuarded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, handingOver(100, time.Hour))
		queue := queueUp(ctx, m, 6)
		for _, p := range queue[:5] {
			lease := p.Wait(t)
			time.Sleep(2 * time.Second)
			require.Len(t, w.Fake.Watches(), 1)
			require.NoError(t, lease.Release(ctx))
		}
		last := queue[5].Wait(t)
		require.NoError(t, w.Fake.Delete(last.Path()))
		<-last.Context().Done()
		require.ErrorIs(t, context.Cause(last.Context()), locks.ErrNodeDeleted)
		require.ErrorIs(t, last.Release(ctx), locks.ErrNodeDeleted)
		w.NothingLeft(t, path)
	})
}
