package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The user's code ends a goroutine that has others of its client before and behind it.
// Those behind it get the lock, whatever the policy of each.
func TestCallThatDoesNotReturnLetsThoseBehindItIn(t *testing.T) {
	mutex := func(opts ...locks.MutexOption) func(c *framework.Client) locks.Locker {
		return func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l", opts...) }
	}
	reader := func(opts ...locks.ReadWriteOption) func(c *framework.Client) locks.Locker {
		return func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessReadWriteLock(c, "/l", opts...).ReadLock()
		}
	}
	writer := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessReadWriteLock(c, "/l").WriteLock()
	}
	handsOver, cached := handingOver(5, time.Hour), idleFor(5, time.Second)
	for name, kind := range map[string][3]func(c *framework.Client) locks.Locker{ // before, under test, behind
		"mutex":               {mutex(), mutex(), mutex()},
		"hand-over":           {mutex(handsOver), mutex(handsOver), mutex(handsOver)},
		"handed to plain":     {mutex(handsOver), mutex(), mutex(handsOver)},
		"cached":              {mutex(cached), mutex(cached), mutex(cached)},
		"both":                {mutex(cached, handsOver), mutex(cached), mutex(handsOver)},
		"handed to minimum":   {mutex(handsOver), mutex(heldFor(3 * time.Second)), mutex(handsOver)},
		"readers":             {reader(), reader(), reader()},
		"cached readers":      {reader(cached), reader(cached), reader(cached)},
		"reader after writer": {writer, reader(), reader()},
		"writer":              {reader(), writer, reader(cached)},
	} {
		t.Run(name, func(t *testing.T) {
			locktest.NoReturn(t, func(t *testing.T, ctx context.Context, c *framework.Client) error {
				first, err := kind[0](c).Acquire(context.Background())
				if err != nil {
					return err
				}
				time.AfterFunc(2*time.Second, func() { require.NoError(t, first.Release(context.Background())) })
				time.Sleep(500 * time.Millisecond) // readers look now
				behind := make(chan error, 1)
				time.AfterFunc(time.Second, func() {
					patience, cancel := context.WithTimeout(context.Background(), 20*time.Second)
					defer cancel()
					l, err := kind[2](c).Acquire(patience)
					if err == nil {
						err = l.Release(context.Background())
					}
					if err != nil {
						t.Error(err)
					}
					behind <- err
				})
				l, err := kind[1](c).Acquire(ctx)
				if err != nil {
					return err
				}
				time.Sleep(time.Second)
				err = l.Release(ctx)
				<-behind
				time.Sleep(5 * time.Second)
				return err
			})
		})
	}
}
