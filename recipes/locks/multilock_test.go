package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMultiLockIsAllOrNone(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		paths := []string{path + "/b", path + "/c", path + "/a", path + "/b"}
		multi := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...)
		lease, err := multi.Acquire(ctx)
		require.NoError(t, err)
		require.Len(t, lease.Leases(), 3)
		require.Contains(t, lease.Leases()[0].Path(), path+"/a/")

		again, err := multi.Acquire(lease.Context())
		require.NoError(t, err, "each lock is re-entered")
		require.NoError(t, again.Release(ctx))
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Release(ctx))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		for _, p := range paths {
			w.WaitNodes(t, p, 0)
		}

		holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, path+"/b"))
		_, err = multi.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.ErrorContains(t, err, path+"/b")
		require.NoError(t, holder.Release(ctx))
		for _, p := range paths {
			w.NothingLeft(t, p)
		}
	})
}

// Curator goes on after a failure, and gives each lock the whole timeout. This
// multi-lock stops at the first failure, and all locks share one deadline.
//
// Promise: A multi-lock acquires all of its locks or none.
func TestMultiLockStopsAtTheFirstFailureWithOneDeadline(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		paths := []string{path + "/a", path + "/b", path + "/c"}
		for _, p := range paths[:2] {
			defer locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, p)).Release(ctx)
		}
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...).Acquire(short)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, path+"/a")
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.Empty(t, w.Nodes(t, path+"/c"), "the third was never asked for")
	})
}

// A lock that cannot be released does not keep the multi-lock from the release
// of the others (CURATOR-75, and Curator's
// TestInterProcessMultiMutex#testSomeReleasesFail).
func TestMultiLockReleasesTheOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease, err := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{path + "/a", path + "/b"})...).Acquire(ctx)
		require.NoError(t, err)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Times: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		require.Error(t, lease.Release(ctx))
		require.Empty(t, w.Nodes(t, path+"/a"))
		require.Len(t, w.Nodes(t, path+"/b"), 1)
	})
}

// A multi-lock of no locks would guard nothing.
func TestMultiLockOfNothingIsAnError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		for _, l := range []*locks.InterProcessMultiLock{
			locks.NewInterProcessMultiLock(locks.SortedMutexes(w.Observer, nil)...), locks.NewInterProcessMultiLock(), locks.NewInterProcessMultiLock(nil),
			locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(w.Observer, "/l"), nil),
		} {
			_, err := l.Acquire(ctx)
			require.ErrorIs(t, err, zk.ErrBadArguments)
			_, err = l.TryAcquire(ctx)
			require.ErrorIs(t, err, zk.ErrBadArguments)
			require.ErrorIs(t, l.Do(ctx, nil), zk.ErrBadArguments)
		}
		_, err := locks.NewInterProcessMultiLock().Acquire(ctx)
		require.ErrorContains(t, err, "a multi-lock needs at least one lock")
	})
}

// The connection breaks while an acquire has the first lock and waits for the second. The
// error policy decides whether another contender gets the first lock.
//
// Promise: Under StandardPolicy, an interruption makes a multi-lock's acquire start again.
func TestMultiLockThatIsInterruptedFollowsTheErrorPolicy(t *testing.T) {
	for name, policy := range map[string]state.ErrorPolicy{"standard": state.StandardPolicy, "session": state.SessionPolicy} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				rival, _ := w.Connect(t)
				c, network := w.Connect(t, framework.WithErrorPolicy(policy))
				second := must(locks.NewInterProcessMutex(rival, "/b").Acquire(ctx))(t)
				both := locktest.AcquireLater(ctx, locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/a", "/b"})...))
				w.WaitNodes(t, "/b", 2)
				first := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(rival, "/a"))
				w.WaitNodes(t, "/a", 2)
				network.Cut()
				time.Sleep(time.Second)
				synctest.Wait()
				require.Equal(t, policy == state.StandardPolicy, first.IsOver())
				require.NoError(t, second.Release(ctx))
				inOrder := []*locktest.Pending{both, first}
				if policy == state.StandardPolicy {
					slices.Reverse(inOrder)
				}
				for _, p := range inOrder {
					require.NoError(t, p.Wait(t).Release(ctx))
				}
			})
		})
	}
}

// heldAlready is a Locker from elsewhere, which returns a lease that its owner has.
type heldAlready struct {
	lease *locks.Lease
	calls *int
}

func (h heldAlready) Acquire(context.Context) (*locks.Lease, error) {
	if *h.calls++; *h.calls > 200 {
		return nil, errors.New("asked too often")
	}
	return h.lease, nil
}

func (h heldAlready) TryAcquire(ctx context.Context) (*locks.Lease, error) { return h.Acquire(ctx) }
