package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Every call of the user's code within an acquire and its release does not
// return in turn, for every kind of lock. A default run tries some of them.
//
// Promise: A multi-lock release that panics still releases every lock.
func TestCallThatDoesNotReturnLeavesNoLockHeld(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == cachedKind { // its node stays
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			locktest.NoReturn(t, func(t *testing.T, ctx context.Context, c *framework.Client) error {
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

// The same for a lock that becomes idle, is taken again, and goes for another.
func TestCallThatDoesNotReturnLeavesNoCachedLockHeld(t *testing.T) {
	locktest.NoReturn(t, func(t *testing.T, ctx context.Context, c *framework.Client) error {
		cached := locks.NewInterProcessMutex(c, "/l", locks.WithCachedLock(2, 10*time.Second))
		for _, m := range []*locks.InterProcessMutex{cached, cached, locks.NewInterProcessMutex(c, "/l")} {
			l, err := m.Acquire(ctx)
			if err != nil {
				return err
			}
			if err := l.Release(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// The same for readers that share a node, one of which stays when the other one
// joins it.
func TestCallThatDoesNotReturnLeavesNoSharedNode(t *testing.T) {
	locktest.NoReturn(t, func(t *testing.T, ctx context.Context, c *framework.Client) (err error) {
		rw := locks.NewInterProcessReadWriteLock(c, "/l", locks.WithCachedLock(4, 10*time.Second))
		for range 2 {
			var all []*locks.Lease
			defer func() {
				for _, l := range all {
					_ = l.Release(ctx)
				}
			}()
			for range 2 {
				l, err := rw.ReadLock().Acquire(ctx)
				if err != nil {
					return err
				}
				all = append(all, l)
			}
			for _, l := range all {
				if err := l.Release(ctx); err != nil {
					return err
				}
			}
		}
		l, err := rw.WriteLock().Acquire(ctx)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	})
}

// The same within an acquire that gives up.
func TestCallThatDoesNotReturnLeavesNoNodeInTheQueue(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // which never waits
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			locktest.NoReturn(t, func(t *testing.T, ctx context.Context, c *framework.Client) error {
				held, err := kind.blocker(c)(ctx)
				if err != nil {
					return err
				}
				defer held.Release(ctx)
				take, after := kind.taker(t, c)
				defer after()
				_, err = take(recipetest.Within(t, time.Minute))
				if !errors.Is(err, locks.ErrNotAcquired) {
					return fmt.Errorf("not refused: %w", err)
				}
				return nil
			})
		})
	}
}
