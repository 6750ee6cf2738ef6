package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
)

// Promise: An acquire or a release whose hook panics leaves no node and no goroutine in line.
func TestRecoveredPanicLeavesNoLockHeld(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == cachedKind { // its node stays
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			locktest.RecoveredPanic(t, func(t *testing.T, ctx context.Context, c *framework.Client) error {
				take, after := kind.taker(t, c)
				defer after()
				l, err := take(ctx)
				if err != nil {
					return err
				}
				return l.Release(ctx)
			})
		})
	}
}

// The node of a cached lock stays, unless its idle time is over: others can use it then.
//
// Promise: A Do whose hook panics leaves no node and no goroutine in line.
func TestRecoveredPanicInADoLeavesNoLockHeld(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) doer{
		"mutex":        func(c *framework.Client) doer { return locks.NewInterProcessMutex(c, "/l") },
		"cached mutex": func(c *framework.Client) doer { return locks.NewInterProcessMutex(c, "/l", idleFor(2, time.Second)) },
		"semaphore":    func(c *framework.Client) doer { return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(2)) },
		"multi-lock": func(c *framework.Client) doer {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			locktest.RecoveredPanic(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error {
				return lock(c).Do(ctx, func(context.Context) error { return nil })
			})
		})
	}
}

type doer interface {
	Do(ctx context.Context, f func(ctx context.Context) error) error
}

// duringDowngrade is a hook. While it is on, it releases the writer when the read node is
// about to be made, and panics at the next delete.
type duringDowngrade struct {
	release func() // the writer's
	on      bool
}

func (h *duringDowngrade) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if !h.on {
		return ctx
	}
	switch op.Name {
	case "transaction":
		h.release()
	case "delete":
		h.on = false
		panic(h)
	}
	return ctx
}

// The writer is released while the reader takes its place, so that the acquire of the
// reader deletes the writer's node.
//
// Promise: A downgrade whose hook panics leaves no reader that holds the lock.
func TestRecoveredPanicAfterADowngradeLeavesNoLockHeld(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		hook := &duringDowngrade{}
		c, _ := w.Connect(t, framework.WithHooks(hook))
		l := locks.NewInterProcessReadWriteLock(c, "/l")
		writer, err := l.WriteLock().Acquire(w.Patience(t))
		require.NoError(t, err)
		hook.release = func() { require.NoError(t, writer.Release(w.Patience(t))) }
		hook.on = true
		require.PanicsWithValue(t, hook, func() { _, _ = l.ReadLock().Acquire(context.WithoutCancel(writer.Context())) })
		time.Sleep(30 * time.Second)
		require.Empty(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()))
		_, err = locks.NewInterProcessReadWriteLock(w.Observer, "/l").WriteLock().Acquire(recipetest.Within(t, time.Hour))
		require.NoError(t, err)
	})
}

// joiner is a hook. While it is on, another reader takes the lock when the release of a
// cached read lock looks at the queue. Then the hook panics.
type joiner struct {
	join func()
	on   bool
}

func (h *joiner) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if h.on && op.Name == "children" {
		h.on = false
		h.join()
		panic(h)
	}
	return ctx
}

// Promise: A release whose hook panics gives up no lock that another reader of the client holds.
func TestRecoveredPanicInAReleaseLeavesOtherReadersTheLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		hook := &joiner{}
		c, _ := w.Connect(t, framework.WithHooks(hook))
		read := locks.NewInterProcessReadWriteLock(c, "/l", idleFor(2, time.Second)).ReadLock()
		var other *locks.Lease
		hook.join = func() { other = locktest.Acquire(t, w.Patience(t), read) }
		l := locktest.Acquire(t, w.Patience(t), read)
		hook.on = true
		require.PanicsWithValue(t, hook, func() { _ = l.Release(w.Patience(t)) })
		time.Sleep(30 * time.Second)
		require.NoError(t, other.Context().Err())
		require.Len(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()), 1)
		require.NoError(t, other.Release(w.Patience(t)))
		time.Sleep(30 * time.Second)
		require.Empty(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()))
	})
}
