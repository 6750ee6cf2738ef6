package locks_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
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
