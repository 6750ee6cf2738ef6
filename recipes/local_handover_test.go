package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

func TestLocalHandOverCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour))
		queue := queueUp(ctx, m, 50)
		w.fake.ClearRequests()
		first := queue[0].wait(t)
		token := first.FencingToken()
		require.NoError(t, first.Release(ctx))
		for i, p := range queue[1:] {
			lease := p.wait(t) // in the order of arrival
			require.Equal(t, token, lease.FencingToken())
			require.NoError(t, lease.Context().Err())
			if i < len(queue)-2 {
				require.NoError(t, lease.Release(ctx))
				require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrReleased)
				require.ErrorIs(t, lease.Release(ctx), recipes.ErrReleased)
				continue
			}
			require.Empty(t, w.requests())
			require.NoError(t, lease.Release(ctx))
		}
		w.nothingLeft(t, path)
	})
}

func TestLocalHandOverIsBounded(t *testing.T) {
	for name, opt := range map[string]recipes.LockOption{
		"count": recipes.WithLocalHandOver(3, time.Hour),
		"time":  recipes.WithLocalHandOver(1000, 10*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), path(t)
				c, _ := w.connect(t)
				other, _ := w.connect(t)
				m := recipes.NewInterProcessMutex(c, path, opt)
				ours := queueUp(ctx, m, 10)
				theirs := acquireLater(ctx, recipes.NewInterProcessMutex(other, path))
				w.waitNodes(t, path, 2)
				turns := 0
				for _, p := range ours {
					lease := p.wait(t)
					turns++
					time.Sleep(3 * time.Second)
					require.NoError(t, lease.Release(ctx))
					synctest.Wait()
					if theirs.over() {
						break
					}
				}
				require.Equal(t, 4, turns, "the first, and three hand-overs")
				require.NoError(t, theirs.wait(t).Release(ctx))
				for _, p := range ours[turns:] {
					require.NoError(t, p.wait(t).Release(ctx))
				}
				w.nothingLeft(t, path)
			})
		})
	}
}

func TestLostLockIsNotHandedOver(t *testing.T) {
	for name, lose := range map[string]func(w *world, l *recipes.Lease, session int64){
		"session": func(w *world, _ *recipes.Lease, session int64) { w.fake.ExpireSession(session) },
		"node":    func(w *world, l *recipes.Lease, _ int64) { w.fake.Delete(l.Path()) },
		"revoked": func(w *world, l *recipes.Lease, _ int64) { w.fake.Set(l.Path(), []byte("__REVOKE__")) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), path(t)
				c, _ := w.connect(t)
				m := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour))
				queue := queueUp(ctx, m, 3)
				first := queue[0].wait(t)
				time.Sleep(2 * time.Second) // the node is watched now
				lose(w, first, c.SessionID())
				synctest.Wait()
				first.Release(ctx)
				second := queue[1].wait(t)
				require.Greater(t, second.FencingToken(), first.FencingToken())
				require.NoError(t, second.Release(ctx))
				require.NoError(t, queue[2].wait(t).Release(ctx))
				w.nothingLeft(t, path)
			})
		})
	}
}

func TestHandedOverLockIsStillGuarded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour))
		queue := queueUp(ctx, m, 6)
		for _, p := range queue[:5] {
			lease := p.wait(t)
			time.Sleep(2 * time.Second)
			require.Len(t, w.fake.Watches(), 1)
			require.NoError(t, lease.Release(ctx))
		}
		last := queue[5].wait(t)
		require.NoError(t, w.fake.Delete(last.Path()))
		<-last.Context().Done()
		require.ErrorIs(t, context.Cause(last.Context()), recipes.ErrNodeDeleted)
		require.ErrorIs(t, last.Release(ctx), recipes.ErrNodeDeleted)
		w.nothingLeft(t, path)
	})
}

func TestLossDuringTheHandOverHasItsReason(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour))
		lost := 0
		for range 2000 {
			queue := queueUp(ctx, m, 2)
			first := queue[0].wait(t)
			first.Revoked() // watches the node
			synctest.Wait()
			go w.fake.Delete(first.Path())
			go first.Release(ctx)
			second := queue[1].wait(t)
			synctest.Wait()
			if second.Context().Err() != nil {
				lost++
				require.ErrorIs(t, context.Cause(second.Context()), recipes.ErrNodeDeleted)
			}
			second.Release(ctx)
		}
		t.Log("lost", lost, "times")
		require.Positive(t, lost, "the deletion comes in between")
		w.nothingLeft(t, path)
	})
}
