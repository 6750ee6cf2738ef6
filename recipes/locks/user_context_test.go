package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A context of the user's own panics, or ends the goroutine, at each of its calls in
// turn, in acquires that wait, join, or take over what is there. Neither a node nor a
// place in the process is left behind. TestCallThatDoesNotReturnLeavesNoLockHeld does
// the same for acquires of free locks, and for those that give up.
func TestEachCallOfAContextPanics(t *testing.T) {
	mutexOf := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMutex(c, "/l", locks.WithLocalHandOver(2, time.Minute))
	}
	cached := func(c *framework.Client) *locks.InterProcessMutex {
		return locks.NewInterProcessMutex(c, "/l", locks.WithCachedLock(9, 10*time.Second))
	}
	cachedReader := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessReadWriteLock(c, "/l", locks.WithCachedLock(9, 10*time.Second)).ReadLock()
	}
	type lockAt func(*framework.Client) locks.Locker
	// waits acquires a lock while another one of the client has it, and more of the
	// client wait. The last one has it alone, so that nothing is idle after that.
	waits := func(held, wanted, last lockAt, more int) func(*testing.T, context.Context, *framework.Client) error {
		return func(t *testing.T, ctx context.Context, c *framework.Client) (err error) {
			defer func() { err = errors.Join(err, acquireAndRelease(t.Context(), last(c))) }()
			holder, err := held(c).Acquire(t.Context())
			if err != nil {
				return err
			}
			time.AfterFunc(5*time.Second, func() { holder.Release(context.Background()) })
			for range more {
				go func() {
					if l, err := wanted(c).Acquire(context.Background()); err == nil {
						l.Release(context.Background())
					}
				}()
				synctest.Wait()
			}
			return acquireAndRelease(ctx, wanted(c))
		}
	}
	for name, use := range map[string]func(t *testing.T, ctx context.Context, c *framework.Client) error{
		"in the process":                waits(mutexAt, mutexAt, mutexAt, 1),
		"for a hand-over":               waits(mutexOf, mutexOf, mutexAt, 0),
		"behind a writer":               waits(writerAt, readerAt, writerAt, 0),
		"behind a writer, for a node":   waits(writerAt, cachedReader, writerAt, 1),
		"at a gate":                     waits(semaphoreAt, semaphoreAt, semaphoreAt, 1),
		"beside a reader with its node": waits(cachedReader, cachedReader, writerAt, 0),
		"idle": func(t *testing.T, ctx context.Context, c *framework.Client) (err error) {
			defer func() { err = errors.Join(err, acquireAndRelease(t.Context(), mutexAt(c))) }()
			if err := acquireAndRelease(t.Context(), cached(c)); err != nil {
				return err
			}
			return acquireAndRelease(ctx, cached(c))
		},
		"tries": func(t *testing.T, ctx context.Context, c *framework.Client) error {
			holder, err := mutexAt(c).Acquire(t.Context())
			if err != nil {
				return err
			}
			defer holder.Release(t.Context())
			m := mutexOf(c)
			for range 4 {
				_, _ = m.TryAcquire(ctx)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) { locktest.NoReturnOfAContext(t, use) })
	}
}

func acquireAndRelease(ctx context.Context, l locks.Locker) error {
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}
