package locks_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// tried is a kind of lock for tests of TryAcquire, at /l and below.
type tried struct {
	name     string
	lock     func(c *framework.Client) locks.Locker
	rival    func(c *framework.Client) locks.Locker // keeps the lock from others
	unawares []zktest.Op                            // a try of a held lock that was not refused before
	refused  []zktest.Op                            // the next one
	free     []zktest.Op                            // the next one, of a lock that is free by then
}

const (
	create = zktest.OpCreate
	list   = zktest.OpGetChildren2
	read   = zktest.OpGetData
	remove = zktest.OpDelete
	toSync = zktest.OpSync
	multi  = zktest.OpMulti
)

// again returns the requests of a try behind the second that was refused by a look.
func (k tried) again() []zktest.Op {
	return slices.DeleteFunc(slices.Clone(k.refused), func(op zktest.Op) bool { return op == list })
}

func limitedAt(limit locks.SemaphoreLimit) func(c *framework.Client) locks.Locker {
	return func(c *framework.Client) locks.Locker { return locks.NewInterProcessSemaphore(c, "/l", limit) }
}

var allTried = []tried{
	{
		name: "mutex", lock: mutexAt, rival: mutexAt,
		unawares: []zktest.Op{create, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list},
	}, {
		name: "mutex with hand-over", lock: handOverAt, rival: mutexAt,
		unawares: []zktest.Op{create, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list},
	}, {
		name: "reader", lock: readerAt, rival: writerAt,
		unawares: []zktest.Op{create, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list},
	}, {
		name: "writer", lock: writerAt, rival: readerAt,
		unawares: []zktest.Op{create, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list},
	}, {
		name: "semaphore mutex", lock: semaphoreAt, rival: semaphoreAt,
		unawares: []zktest.Op{create, list, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list, list, multi},
	}, {
		name: "semaphore with a shared limit", lock: limitedAt(locks.SharedLimit("/limit", 1)), rival: limitedAt(locks.SharedLimit("/limit", 1)),
		unawares: []zktest.Op{create, list, list, read, read, remove},
		refused:  []zktest.Op{toSync, list, read}, // the limit
		free:     []zktest.Op{toSync, list, read, create, list, list, read, multi},
	}, {
		name: "multi-lock", lock: multiAt, rival: multiAt,
		unawares: []zktest.Op{create, list, read, remove},
		refused:  []zktest.Op{toSync, list},
		free:     []zktest.Op{toSync, list, create, list, create, list},
	},
}

// forAllTried runs a test with a lock of each kind. The rival and the lock belong
// to two clients.
func forAllTried(t *testing.T, test func(t *testing.T, w *world, kind tried, lock, rival locks.Locker)) {
	for _, kind := range allTried {
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ours, _ := w.Connect(t)
				other, _ := w.Connect(t, framework.WithServiceName("rival"))
				test(t, w, kind, kind.lock(ours), kind.rival(other))
			})
		})
	}
}

// isRefused tries a lock that others have, and returns the error.
func isRefused(t *testing.T, l locks.Locker) *locks.NotAcquiredError {
	t.Helper()
	lease, err := l.TryAcquire(t.Context())
	require.Nil(t, lease)
	return notAcquired(t, err)
}

// tryToHold tries a lock that nobody has.
func tryToHold(t *testing.T, l locks.Locker) *locks.Lease {
	t.Helper()
	lease, err := l.TryAcquire(t.Context())
	require.NoError(t, err)
	return lease
}

// A try after a refusal looks before it makes a node, and costs reads only if
// the lock is held still. All other tries cost what they did.
func TestTryAfterARefusalLooksFirst(t *testing.T) {
	forAllTried(t, func(t *testing.T, w *world, kind tried, lock, rival locks.Locker) {
		held := tryToHold(t, rival)
		requests := func(call func()) []zktest.Op {
			synctest.Wait()
			w.Fake.ClearRequests()
			call()
			return w.Requests()
		}
		refuse := func() { isRefused(t, lock) }
		require.Equal(t, kind.unawares, requests(refuse))
		for range 2 {
			require.Equal(t, kind.refused, requests(refuse))
		}
		for range 3 { // the second look has set a watch
			require.Equal(t, kind.again(), requests(refuse))
		}
		require.NoError(t, held.Release(t.Context()))
		var lease *locks.Lease
		grant := func() { lease = tryToHold(t, lock) }
		require.Equal(t, kind.free, requests(grant))
		require.NoError(t, lease.Release(t.Context()))
		require.NotContains(t, requests(grant), toSync, "the last try was granted")
		require.NoError(t, lease.Release(t.Context()))
	})
}

// The node of a holder is read once, and not by each try that is refused because of
// it. What a caller does to its error is its own matter. The next holder is read
// once, too.
func TestTriesAfterARefusalReadEachHolderOnce(t *testing.T) {
	forAllTried(t, func(t *testing.T, w *world, kind tried, lock, rival locks.Locker) {
		held := tryToHold(t, rival)
		third, _ := w.Connect(t, framework.WithServiceName("third"))
		first := isRefused(t, lock)
		for i := range first.HolderData {
			first.HolderData[i] = 'x'
		}
		for range 2 {
			refused := isRefused(t, lock)
			require.Equal(t, "rival", refused.Identity().Service)
			clear(refused.HolderData)
		}
		w.Fake.Inject(zktest.Rule{Op: toSync, Times: 2, Do: zktest.DelayReply(100 * time.Millisecond)})
		var errs [2]error // of tries at the same time
		var tries sync.WaitGroup
		for i := range errs {
			tries.Go(func() { _, errs[i] = lock.TryAcquire(t.Context()) })
		}
		tries.Wait()
		require.NotSame(t, &notAcquired(t, errs[0]).HolderData[0], &notAcquired(t, errs[1]).HolderData[0])
		require.NoError(t, held.Release(t.Context()))
		lease := tryToHold(t, kind.rival(third))
		synctest.Wait()
		w.Fake.ClearRequests()
		for range 3 {
			require.Equal(t, "third", isRefused(t, lock).Identity().Service)
		}
		require.Len(t, w.Requests(), len(kind.refused)+2*len(kind.again())+1, "the new holder")
		require.NoError(t, lease.Release(t.Context()))
	})
}

// A look tells the caller what an attempt would that makes a node.
func TestLookOfATryTellsWhatAnAttemptTells(t *testing.T) {
	forAllTried(t, func(t *testing.T, w *world, kind tried, lock, rival locks.Locker) {
		held := tryToHold(t, rival)
		third, _ := w.Connect(t)
		waiting := locktest.AcquireLater(w.Patience(t), writerOrLock(kind, third))
		synctest.Wait()
		first, second := isRefused(t, lock), isRefused(t, lock)
		require.Positive(t, first.Ahead)
		require.NotEmpty(t, first.Identity())
		require.Equal(t, *first, *second, "no time passes")
		require.NoError(t, held.Release(t.Context()))
		require.NoError(t, waiting.Wait(t).Release(t.Context()))
	})
}

// writerOrLock returns a lock of a kind that waits for its rival.
func writerOrLock(kind tried, c *framework.Client) locks.Locker {
	if kind.name == "reader" {
		return writerAt(c)
	}
	return kind.lock(c)
}

// A queue that is full is full for a look, too.
func TestLookOfATryKnowsTheQueueLimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		held := tryToHold(t, mutexAt(w.Observer))
		c, _ := w.Connect(t)
		for limit, full := range map[int]bool{1: true, 2: false} {
			m := locks.NewInterProcessMutex(c, "/l", locks.WithQueueLimit(limit))
			for range 2 {
				require.Equal(t, full, errors.Is(isRefused(t, m).Err, locks.ErrQueueFull))
			}
		}
		require.NoError(t, held.Release(t.Context()))
	})
}

// Several leases are refused by a look if they do not fit, and are taken if they
// do, however many others have.
func TestLookOfATryCountsLeases(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		other := locks.NewInterProcessSemaphore(w.Observer, "/l", locks.Limit(5))
		s := locks.NewInterProcessSemaphore(c, "/l", locks.Limit(5))
		held, err := other.AcquireN(t.Context(), 3)
		require.NoError(t, err)
		for range 3 {
			_, err = s.TryAcquireN(t.Context(), 3)
			refused := notAcquired(t, err)
			require.Equal(t, []int{3, 3, 5}, []int{refused.Ahead, refused.Leases, refused.Limit})
		}
		lease, err := s.TryAcquireN(t.Context(), 2)
		require.NoError(t, err)
		require.NoError(t, lease.Release(t.Context()))
		require.NoError(t, held.Release(t.Context()))
	})
}

// One who is told that a lock is free may rely on it, although the last try was
// refused and the server lags behind: the release was acknowledged before.
func TestTryOfALockThatIsFreeOnAServerThatLags(t *testing.T) {
	for _, kind := range allTried {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := zktest.StartEnsemble(t, 3)
				other, ours := connectToOne(t, ens, ens.Leader()), connectToOne(t, ens, ens.Followers()[0])
				lock, rival := kind.lock(ours), kind.rival(other)
				require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
				for refused := range 4 { // then it looks, looks with a watch, or asks that
					held := tryToHold(t, rival)
					for range refused + 1 {
						isRefused(t, lock)
					}
					require.NoError(t, held.Release(t.Context()))
					require.NoError(t, tryToHold(t, lock).Release(t.Context()))
				}
			})
		})
	}
}

// A leader answers a sync at once, also if it lags behind its followers. With
// WithStrictContact, a try does not depend on that.
func TestTryOfALockThatIsFreeOnALeaderThatLags(t *testing.T) {
	for _, kind := range allTried {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := zktest.StartEnsemble(t, 3)
				other := connectToOne(t, ens, ens.Followers()[0])
				ours := connectToOne(t, ens, ens.Leader(), framework.WithStrictContact(), framework.WithSessionTimeout(40*time.Second))
				lock, rival := kind.lock(ours), kind.rival(other)
				require.NoError(t, ens.Leader().Lag(3*time.Second))
				for refused := range 4 { // then it looks, looks with a watch, or asks that
					held := tryToHold(t, rival)
					for range refused + 1 {
						isRefused(t, lock)
					}
					require.NoError(t, held.Release(t.Context()))
					require.NoError(t, tryToHold(t, lock).Release(t.Context()))
				}
			})
		})
	}
}

func connectToOne(t *testing.T, ens *zktest.Ensemble, m *zktest.Member, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append(opts, framework.WithDialer(ens.Dialer()))
	c, err := framework.Connect(recipetest.Within(t, time.Minute), m.Addr(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// A node that was being made when its caller gave up is in nobody's way, and the
// client deletes it: also a look does not count it.
func TestLookOfATryDoesNotCountANodeThatWasBeingMade(t *testing.T) {
	for name, tc := range map[string]struct {
		lock func(c *framework.Client) locks.Locker
		op   zktest.Op
		path string // of the node that is being made
	}{
		"mutex":  {mutexAt, zktest.OpCreate, "/l/*"},
		"writer": {writerAt, zktest.OpCreate, "/l/*"},
		"gate":   {semaphoreAt, zktest.OpCreate, "/l/locks/*"},
		"lease":  {semaphoreAt, zktest.OpMulti, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				lock := tc.lock(c)
				held := tryToHold(t, tc.lock(w.Observer))
				isRefused(t, lock)
				require.NoError(t, held.Release(t.Context()))
				w.Fake.Inject(zktest.Rule{
					Op: tc.op, Path: tc.path, Session: c.SessionID(), Do: zktest.DelayRequest(600 * time.Millisecond),
				})
				_, err := lock.Acquire(recipetest.Within(t, 300*time.Millisecond))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				w.Fake.ClearRequests()
				lease := tryToHold(t, lock)
				require.Contains(t, w.Requests(), toSync, "it has looked")
				require.NoError(t, lease.Release(t.Context()))
			})
		})
	}
}

// A client keeps the lock for itself as long as nobody queues. Looks would tell it
// nothing.
func TestTriesThatLookQueueOnceASecond(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		keeper := locks.NewInterProcessMutex(w.Observer, "/l", locks.WithCachedLock(1000, time.Hour))
		held, lock := tryToHold(t, keeper), mutexAt(c)
		isRefused(t, lock)
		require.NoError(t, held.Release(t.Context()))
		begun, tries := time.Now(), 0
		for ; ; tries++ {
			lease, err := lock.TryAcquire(t.Context())
			if err == nil {
				require.NoError(t, lease.Release(t.Context()))
				break
			}
			require.Less(t, time.Since(begun), 2*time.Second)
			time.Sleep(100 * time.Millisecond)
		}
		require.Greater(t, tries, 5, "it has looked")
	})
}

// Somebody has made names up that a newcomer is ahead of. A look knows the number
// that a newcomer would get.
func TestLookOfATryKnowsWhoIsAhead(t *testing.T) {
	for name, sequence := range map[string]int32{"few": 7, "more than a half": 1<<30 + 5, "many": 1<<31 - 20, "all used up": 1<<31 - 1} {
		t.Run(name, func(t *testing.T) {
			on := inVirtualTime
			if name == "few" { // a real server counts one by one
				on = onFakeAndReal
			}
			on(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				m := locks.NewInterProcessMutex(c, path)
				require.NoError(t, hold(t, ctx, newMutex(w.Observer, path)).Release(ctx)) // makes the path
				if w.Fake != nil {
					require.NoError(t, w.Fake.SetSequence(path, sequence))
				}
				held := hold(t, ctx, newMutex(w.Observer, path))
				for range 3 {
					_, err := m.TryAcquire(ctx)
					require.Equal(t, 1, notAcquired(t, err).Ahead)
				}
				forged := path + "/lock-2147483646"
				_, err := w.Observer.Create(ctx, forged, nil)
				require.NoError(t, err)
				_, err = m.TryAcquire(ctx)
				refused := notAcquired(t, err)
				require.NoError(t, held.Release(ctx))
				lease, err := m.TryAcquire(ctx)
				if name == "all used up" { // then it is ahead indeed
					require.ErrorIs(t, err, locks.ErrNotAcquired)
				} else {
					require.Equal(t, held.Path(), path+"/"+refused.Holder)
					require.NoError(t, err)
					require.NoError(t, lease.Release(ctx))
				}
				require.NoError(t, w.Observer.Delete(ctx, forged, framework.AnyVersion))
			})
		})
	}
}

// The requests of a look are waited for as those of an attempt are.
func TestLookOfATryEndsWithItsContext(t *testing.T) {
	for name, op := range map[string]zktest.Op{"sync": toSync, "list": list, "read": read} {
		t.Run(name, func(t *testing.T) {
			forAllTried(t, func(t *testing.T, w *world, kind tried, lock, rival locks.Locker) {
				held := tryToHold(t, rival)
				if kind.name != "semaphore with a shared limit" { // whose limit is read first
					w.Fake.Inject(zktest.Rule{Op: read, Do: zktest.Fail(zktest.ErrNoNode)}) // so the look has to read the holder
				}
				isRefused(t, lock)
				if op == toSync { // so the look asks a watch
					isRefused(t, lock)
					isRefused(t, lock)
				}
				w.Fake.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.DelayReply(time.Hour)})
				start := time.Now()
				lease, err := lock.TryAcquire(recipetest.Within(t, time.Second))
				require.Nil(t, lease)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				require.Equal(t, time.Second, time.Since(start))
				if op == read && kind.name != "semaphore with a shared limit" {
					require.Positive(t, notAcquired(t, err).Ahead)
					require.NotEmpty(t, notAcquired(t, err).Holder)
				}
				require.NoError(t, held.Release(t.Context()))
			})
		})
	}
}
