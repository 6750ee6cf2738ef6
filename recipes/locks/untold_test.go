package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A change that the server does not report uses up the holder's watch on its own node.
// The holder then receives nothing that follows, such as the deletion of the node, with
// which the next in line holds the lock.
func TestHolderNoticesASilentDeletion(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, w *world, node string){
		"after a change that it was not told of": func(t *testing.T, w *world, node string) {
			w.ChangeUntold(t, node)
			require.NoError(t, w.Fake.Delete(node))
		},
		"while it may not read its node": func(t *testing.T, w *world, node string) {
			w.Hide(t, node)
			require.NoError(t, w.Fake.Delete(node))
		},
		"while it may not read its node, after a change": func(t *testing.T, w *world, node string) {
			w.Hide(t, node)
			require.NoError(t, w.Fake.Set(node, nil))
			<-time.After(time.Hour)
			require.NoError(t, w.Fake.Delete(node))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, recipetest.Path(t)))
				<-time.After(time.Minute)
				lose(t, w, lease.Path())
				select {
				case <-lease.Context().Done():
				case <-time.After(recipetest.Untold):
				}
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrNodeDeleted)
			})
		})
	}
}

// A change that the server does not tell of uses up a waiter's watch. It would
// not hear of the release.
func TestWaiterNoticesASilentRelease(t *testing.T) {
	for name, of := range map[string]func(c *framework.Client) locks.Locker{
		"mutex":     func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l") },
		"writer":    func(c *framework.Client) locks.Locker { return rwOf(c).WriteLock() },
		"semaphore": func(c *framework.Client) locks.Locker { return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				one, _ := w.Connect(t)
				two, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), of(one))
				waiter := locktest.AcquireLater(t.Context(), of(two))
				<-time.After(time.Second)
				for _, watched := range w.Fake.Watches() {
					if watched.Session == two.SessionID() {
						changeUntold(t, w, watched)
					}
				}
				require.NoError(t, lease.Release(t.Context()))
				<-time.After(recipetest.Untold)
				require.True(t, waiter.IsOver(), "it still waits")
				require.NoError(t, waiter.Wait(t).Release(t.Context()))
			})
		})
	}
}

func changeUntold(t *testing.T, w *world, watched zktest.Watch) {
	t.Helper()
	if !watched.Child {
		w.ChangeUntold(t, watched.Path)
		return
	}
	show := w.Hide(t, watched.Path)
	require.NoError(t, w.Fake.Create(watched.Path+"/foreign", nil))
	require.NoError(t, w.Fake.Delete(watched.Path+"/foreign"))
	show()
}
