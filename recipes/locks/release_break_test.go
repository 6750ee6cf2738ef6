package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A release meets a break, and the client has another connection at once, whose
// server is slow to delete. The release does not wait for that, and the nodes go all
// the same.
func TestReleaseDoesNotWaitForTheNextConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		meets zktest.Op // the request that meets the break
		lock  func(c *framework.Client) locks.Locker
	}{
		"a cached lock": {list, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l/a", idleFor(1000, time.Minute))
		}},
		"several locks": {zktest.OpDelete, func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), tc.lock(c))
				time.Sleep(5 * time.Second) // so that the client connects again without a pause
				w.Fake.ClearRequests()
				w.Fake.Inject(zktest.Rule{Op: tc.meets, Do: zktest.All(zktest.DropReply(), zktest.Call(func(zktest.Request) {
					w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.DelayReply(3 * time.Second)})
				}))})
				begun := time.Now()
				require.NoError(t, lease.Release(t.Context()))
				require.Less(t, time.Since(begun), time.Second, "%v", w.Requests())
				time.Sleep(time.Minute)
				require.Empty(t, w.Fake.Queue("/l/a"))
				require.Empty(t, w.Fake.Queue("/l/b"))
			})
		})
	}
}

// mute is a context of the user's own that panics when it is asked for a value.
type mute struct{ context.Context }

func (mute) Value(any) any { panic("value") }

// A release that panics releases all the same.
//
// Promise: A release whose context panics still deletes its node.
func TestReleaseWhoseContextPanicsWhenItIsAskedForAValue(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"one": func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l/a") },
		"several": func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), lock(c))
				require.PanicsWithValue(t, "value", func() { _ = lease.Release(mute{t.Context()}) })
				time.Sleep(time.Minute)
				require.Empty(t, w.Fake.Queue("/l/a"))
				require.Empty(t, w.Fake.Queue("/l/b"))
				require.NoError(t, locktest.Acquire(t, w.Patience(t), lock(c)).Release(t.Context()))
			})
		})
	}
}
