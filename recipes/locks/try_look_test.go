package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
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
	list   = zkinside.OpGetChildren2
	read   = zktest.OpGetData
	remove = zktest.OpDelete
	toSync = zktest.OpSync
	multi  = zktest.OpMulti
)

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
		require.NoError(t, held.Release(t.Context()))
		var lease *locks.Lease
		grant := func() { lease = tryToHold(t, lock) }
		require.Equal(t, kind.free, requests(grant))
		require.NoError(t, lease.Release(t.Context()))
		require.NotContains(t, requests(grant), toSync, "the last try was granted")
		require.NoError(t, lease.Release(t.Context()))
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

// A leader answers a sync at once, even if it lags behind its followers. With
// WithStrictContact, a try asks a quorum instead. The lag is short enough for the
// session to survive.
func TestTryOfALockThatIsFreeOnALeaderThatLags(t *testing.T) {
	for _, kind := range allTried {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := zktest.StartEnsemble(t, 3)
				other := connectToOne(t, ens, ens.Followers()[0])
				ours := connectToOne(t, ens, ens.Leader(), framework.WithStrictContact(), framework.WithSessionTimeout(40*time.Second))
				lock, rival := kind.lock(ours), kind.rival(other)
				require.NoError(t, ens.Leader().Lag(500*time.Millisecond))
				for refused := range 4 {
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
