package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// notAcquired returns the error of a failed acquire.
func notAcquired(t *testing.T, err error) *locks.NotAcquiredError {
	t.Helper()
	var refused *locks.NotAcquiredError
	require.ErrorAs(t, err, &refused)
	return refused
}

// The holder may have changed since the error's last look at the queue. The
// error says how old that look is.
func TestNotAcquiredErrorSaysHowOldItIs(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var mutexes []*locks.InterProcessMutex
		for _, name := range []string{"first", "second", "third", "fourth"} {
			c, _ := w.Connect(t, framework.WithServiceName(name))
			mutexes = append(mutexes, locks.NewInterProcessMutex(c, "/l"))
		}
		first := locktest.Acquire(t, t.Context(), mutexes[0])
		second := locktest.AcquireLater(t.Context(), mutexes[1])
		synctest.Wait()
		third := locktest.AcquireLater(t.Context(), mutexes[2])
		synctest.Wait()
		start := time.Now()
		fourth := locktest.AcquireLater(recipetest.Within(t, time.Minute), mutexes[3])
		synctest.Wait()
		time.Sleep(time.Second)
		require.NoError(t, first.Release(t.Context())) // the fourth contender is not told
		<-fourth.Done
		refused := notAcquired(t, fourth.Err)
		require.Equal(t, start, refused.Seen)
		require.Equal(t, 3, refused.Ahead)
		require.Equal(t, "first", refused.Identity().Service, "known from every position")
		require.False(t, refused.Own)
		require.ErrorContains(t, fourth.Err, ", seen 1m0s before: context deadline exceeded")
		require.NoError(t, second.Wait(t).Release(t.Context()))
		require.NoError(t, third.Wait(t).Release(t.Context()))

		held := locktest.Acquire(t, t.Context(), mutexes[0])
		_, err := mutexes[1].TryAcquire(t.Context())
		require.Equal(t, time.Now(), notAcquired(t, err).Seen)
		require.NotContains(t, err.Error(), "seen")
		require.NoError(t, held.Release(t.Context()))
	})
}

// A caller that waits for its own lease learns that from the error. The error
// also says how to re-enter.
func TestNotAcquiredErrorNamesOneself(t *testing.T) {
	const hint = " (an acquire under the context of its lease would re-enter)"
	for name, tc := range map[string]struct {
		hold, want func(c *framework.Client) locks.Locker
		hint       bool
	}{
		"mutex":          {mutexAt, mutexAt, true},
		"writer, reader": {writerAt, readerAt, true},
		"reader, writer": {readerAt, writerAt, false}, // re-entry would be ErrUpgrade
		"semaphore":      {semaphoreAt, semaphoreAt, false},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				other, _ := w.Connect(t)
				held, err := tc.hold(c).Acquire(t.Context())
				require.NoError(t, err)
				waiting, stop := context.WithCancel(t.Context())
				defer stop()
				for range 3 { // the last of these acquires wait in the process
					go tc.want(c).Acquire(waiting)
					synctest.Wait()
					_, waited := tc.want(c).Acquire(recipetest.Within(t, time.Second))
					_, tried := tc.want(c).TryAcquire(t.Context())
					for _, err := range []error{waited, tried} {
						require.True(t, notAcquired(t, err).Own, "%v", err)
						require.Contains(t, err.Error(), ", held by this client itself, ")
						require.Equal(t, tc.hint, strings.Contains(err.Error(), hint))
					}
				}
				_, err = tc.want(other).TryAcquire(t.Context())
				require.False(t, notAcquired(t, err).Own, "%v", err)
				require.NotContains(t, err.Error(), "itself")
				stop()
				require.NoError(t, held.Release(t.Context()))
			})
		})
	}
}

func mutexAt(c *framework.Client) locks.Locker  { return locks.NewInterProcessMutex(c, "/l") }
func readerAt(c *framework.Client) locks.Locker { return rwOf(c).ReadLock() }
func writerAt(c *framework.Client) locks.Locker { return rwOf(c).WriteLock() }
func semaphoreAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1))
}

// Any client may have made the node that the error names.
func TestNotAcquiredErrorFitsIntoALine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/l", nil))
		require.NoError(t, w.Fake.Create("/l/_c_\u202e-lock-0000000000", nil))
		_, err := locks.NewInterProcessMutex(c, "/l").TryAcquire(t.Context())
		require.Equal(t, "_c_\u202e-lock-0000000000", notAcquired(t, err).Holder, "as it is")
		require.ErrorContains(t, err, `, held by "_c_\u202e-lock-0000000000"`)
	})
}
