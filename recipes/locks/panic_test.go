package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
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
