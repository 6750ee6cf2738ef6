package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Goroutines of one client come in a burst and wait for a lock that is held for
// longer than that. When the first of them give up, the next have just begun to
// make their nodes. All are told that they did not get the lock, and who has
// it.
func TestBurstOfWaitersThatGiveUp(t *testing.T) {
	const burst, latency = 20, 2 * time.Millisecond
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"mutex":               mutexAt,
		"mutex with handover": handOverAt,
		"reader":              readerAt,
		"writer":              writerAt,
		"semaphore":           semaphoreAt,
		"multi-lock":          multiAt,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(latency)})
				holder, _ := w.Connect(t, framework.WithServiceName("holder"))
				c, _ := w.Connect(t, framework.WithServiceName("burst"))
				blocker := lock(holder)
				if name == "reader" {
					blocker = writerAt(holder)
				}
				held := locktest.Acquire(t, t.Context(), blocker)
				var all sync.WaitGroup
				for range burst {
					all.Go(func() {
						lease, err := lock(c).Acquire(recipetest.Within(t, time.Second))
						assert.Nil(t, lease)
						assert.ErrorIs(t, err, context.DeadlineExceeded)
						assert.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
						var refused *locks.NotAcquiredError
						if assert.ErrorAs(t, err, &refused) {
							mayWaitAhead := name == "semaphore" // at the gate, where its node may not have been read
							assert.True(t, mayWaitAhead || refused.Identity().Service == "holder", "%v", err)
							assert.Positive(t, refused.Ahead)
						}
					})
					time.Sleep(latency / 2)
				}
				all.Wait()
				require.NoError(t, held.Release(t.Context()))
				synctest.Wait()
				require.NoError(t, locktest.Acquire(t, t.Context(), lock(c)).Release(t.Context()))
			})
		})
	}
}

func handOverAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMutex(c, "/l", locks.WithLocalHandOver(2, time.Minute))
}

func multiAt(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
}

// A waiter that has seen the queue loses its node, and its context ends while it
// makes another. The error says what it saw.
func TestWaiterThatQueuesAgainRemembersTheQueue(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				rival, _ := w.Connect(t, framework.WithServiceName("rival"))
				c, network := w.Connect(t)
				held := must(kind.blocker(rival)(t.Context()))(t)
				acquire, _ := kind.taker(t, c)
				start := time.Now()
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, err = acquire(recipetest.Within(t, time.Minute))
				}()
				synctest.Wait()
				for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpMulti} {
					w.Fake.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.DelayRequest(time.Minute)})
				}
				network.Expire(t)
				<-done
				require.Equal(t, time.Minute, time.Since(start))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				refused := notAcquired(t, err)
				require.Equal(t, "rival", refused.Identity().Service)
				require.Positive(t, refused.Ahead)
				require.Equal(t, start, refused.Seen)
				require.NoError(t, held.Release(t.Context()))
			})
		})
	}
}

// The context ends while a waiter reads the node of the holder. Another of its
// client has read that before.
func TestErrorNamesAHolderThatTheProcessKnows(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"mutex": mutexAt, "reader": readerAt, "writer": writerAt,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				holder, _ := w.Connect(t, framework.WithServiceName("holder"))
				c, _ := w.Connect(t)
				blocker := lock(holder)
				if name == "reader" {
					blocker = writerAt(holder)
				}
				held := locktest.Acquire(t, t.Context(), blocker)
				first := locktest.AcquireLater(t.Context(), lock(c))
				synctest.Wait()
				time.Sleep(2 * time.Second) // what the first has seen is old
				slow := w.Fake.Inject(zktest.Rule{Path: held.Path(), Session: c.SessionID(), Times: -1, Do: zktest.DelayReply(time.Minute)})
				_, waited := lock(c).Acquire(recipetest.Within(t, time.Second))
				_, tried := lock(c).TryAcquire(recipetest.Within(t, time.Second))
				for _, err := range []error{waited, tried} {
					refused := notAcquired(t, err)
					require.Equal(t, held.Path(), "/l/"+refused.Holder)
					require.Equal(t, "holder", refused.Identity().Service)
				}
				slow.Remove()
				require.NoError(t, held.Release(t.Context()))
				require.NoError(t, first.Wait(t).Release(t.Context()))
			})
		})
	}
}

// The context ends while a node is made, before a look. Another of its client
// has seen the queue.
func TestErrorKnowsTheQueueThatTheProcessHasSeen(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{"reader": readerAt, "writer": writerAt} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				holder, _ := w.Connect(t, framework.WithServiceName("holder"))
				c, _ := w.Connect(t)
				held := locktest.Acquire(t, t.Context(), writerAt(holder))
				first := locktest.AcquireLater(t.Context(), lock(c))
				synctest.Wait()
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Times: -1, Do: zktest.DelayRequest(time.Minute)})
				_, err := lock(c).Acquire(recipetest.Within(t, time.Second))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				refused := notAcquired(t, err)
				require.Equal(t, "holder", refused.Identity().Service)
				require.Positive(t, refused.Ahead)
				require.NoError(t, held.Release(t.Context()))
				require.NoError(t, first.Wait(t).Release(t.Context()))
			})
		})
	}
}

// A try does not come to see the server's queue before its context ends. But
// others of its client wait for the lock.
func TestTryThatSeesNoQueueSaysWhatTheProcessKnows(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		held := locktest.Acquire(t, t.Context(), mutexAt(w.Observer))
		first := locktest.AcquireLater(t.Context(), mutexAt(c))
		synctest.Wait()
		second := locktest.AcquireLater(t.Context(), mutexAt(c))
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Do: zktest.DelayReply(time.Minute)})
		_, err := mutexAt(c).TryAcquire(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		refused := notAcquired(t, err)
		require.Equal(t, 2, refused.Ahead)
		require.Equal(t, held.Path(), "/l/"+refused.Holder)
		require.NoError(t, held.Release(t.Context()))
		require.NoError(t, first.Wait(t).Release(t.Context()))
		require.NoError(t, second.Wait(t).Release(t.Context()))
	})
}

// The goroutine of this client that had the lock has released it. It is not
// said to be ahead of the next one, which has no node yet.
func TestReleasedLockOfOursIsNotAhead(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) locks.Locker{
		"mutex": mutexAt, "mutex with hand-over": handOverAt, "writer": writerAt,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				held := locktest.Acquire(t, t.Context(), lock(c))
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayRequest(time.Minute)})
				next := locktest.AcquireLater(recipetest.Within(t, time.Second), lock(c))
				synctest.Wait()
				require.NoError(t, held.Release(t.Context()))
				<-next.Done
				require.ErrorIs(t, next.Err, context.DeadlineExceeded)
				require.NotErrorIs(t, next.Err, framework.ErrOutcomeUnknown)
				require.NotErrorIs(t, next.Err, locks.ErrNotAcquired)
			})
		})
	}
}

// A server fails at the creation of the node, and may have made it. The acquire
// has failed, and the client deletes what there may be.
func TestAcquireAtWhichTheServerFailsIsNotOfUnknownOutcome(t *testing.T) {
	for _, kind := range kindsOfLocks {
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				acquire, after := kind.taker(t, c)
				w.Fake.Inject(zktest.Rule{Op: kind.creation(), Do: zktest.Fail(zktest.ErrSystem)})
				_, err := acquire(t.Context())
				var answer *framework.ServerError
				require.ErrorAs(t, err, &answer)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				require.NotContains(t, err.Error(), framework.ErrOutcomeUnknown.Error())
				after()
				for _, path := range kind.paths {
					w.WaitNodes(t, path, 0)
				}
			})
		})
	}
}

// A waiter passes the gate of a semaphore, and its context ends while it looks
// at the leases. The waiter before it has seen who has the leases, if it was of the
// same client. If not, that waiter itself is all that is known.
func TestErrorOfAWaiterThatHasJustPassedTheGate(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  locks.SemaphoreLimit
		n      int
		shared bool // both waiters are of one client
		known  string
	}{
		"of one client":                      {locks.Limit(1), 1, true, "holder"},
		"of one client, several leases":      {locks.Limit(2), 2, true, "holder"},
		"of one client, with a shared limit": {locks.SharedLimit("/limit", 1), 1, true, "holder"},
		"of two clients":                     {locks.Limit(1), 1, false, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				at := func(c *framework.Client) *locks.InterProcessSemaphore {
					return locks.NewInterProcessSemaphore(c, "/l", tc.limit)
				}
				holder, _ := w.Connect(t, framework.WithServiceName("holder"))
				held := locktest.Acquire(t, t.Context(), at(holder))
				first, _ := w.Connect(t, framework.WithServiceName("first"))
				second := first
				if !tc.shared {
					second, _ = w.Connect(t, framework.WithServiceName("second"))
				}
				go at(first).AcquireN(recipetest.Within(t, time.Second), tc.n)
				synctest.Wait()
				listed := 0
				if !tc.shared {
					listed = 1 // with its node at the gate
				}
				w.Fake.Inject(zktest.Rule{
					Op: zktest.OpGetChildren2, Path: "/l/leases", Session: second.SessionID(), After: listed, Times: -1,
					Do: zktest.DelayRequest(time.Minute),
				})
				_, err := at(second).AcquireN(recipetest.Within(t, 2*time.Second), tc.n)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				refused := notAcquired(t, err)
				require.Equal(t, tc.known, refused.Identity().Service, "%v", err)
				require.Equal(t, 1, refused.Ahead)
				require.NoError(t, held.Release(t.Context()))
			})
		})
	}
}
