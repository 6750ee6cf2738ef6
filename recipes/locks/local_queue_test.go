package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// queueUp starts n acquires of one mutex object, one after the other, and
// returns them in this order.
func queueUp(ctx context.Context, m *locks.InterProcessMutex, n int) []*locktest.Pending {
	all := make([]*locktest.Pending, n)
	for i := range all {
		all[i] = locktest.AcquireLater(ctx, m)
		synctest.Wait()
	}
	return all
}

func TestOnlyTheHolderAndTheNextOfAnObjectAreAtTheServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		for _, p := range queueUp(ctx, m, 20) {
			require.LessOrEqual(t, len(w.Nodes(t, path)), 2)
			lease := p.Wait(t) // leases come in the order of arrival
			synctest.Wait()
			require.NoError(t, lease.Release(ctx))
			synctest.Wait()
		}
		w.NothingLeft(t, path)
	})
}

// A waiter in the process costs the server nothing, and its leaving costs
// nothing either.
func TestWaitingInTheProcessCostsTheServerNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		queue := queueUp(ctx, m, 2)
		w.Fake.ClearRequests()
		leaving, cancel := context.WithCancel(ctx)
		rest := queueUp(leaving, m, 100)
		last := locktest.AcquireLater(ctx, m)
		synctest.Wait()
		cancel()
		for i, p := range rest {
			<-p.Done
			require.ErrorIs(t, p.Err, context.Canceled)
			var refused *locks.NotAcquiredError
			require.ErrorAs(t, p.Err, &refused)
			require.NotEmpty(t, refused.Holder)
			require.NotEmpty(t, refused.Identity)
			require.GreaterOrEqual(t, refused.Ahead, 2, i)
		}
		require.Empty(t, w.Requests())
		for _, p := range append(queue, last) {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// An arrival may get its turn at the moment at which it gives up. The next
// arrival must get the turn then.
func TestTurnThatComesWithTheCancellationIsNotLost(t *testing.T) {
	t.Parallel()
	tries := thorough.Size(300, 30)
	for _, opts := range [][]locks.MutexOption{nil, {handingOver(100, time.Hour)}} {
		for range tries {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				m := locks.NewInterProcessMutex(c, path, opts...)
				queue := queueUp(ctx, m, 2)
				leaving, cancel := context.WithCancel(ctx)
				going := queueUp(leaving, m, 1)[0]
				last := queueUp(ctx, m, 1)[0]
				go cancel()
				for _, p := range queue {
					require.NoError(t, p.Wait(t).Release(ctx))
				}
				<-going.Done
				if going.Err == nil {
					require.NoError(t, going.Lease.Release(ctx))
				}
				require.NoError(t, last.Wait(t).Release(ctx))
				w.NothingLeft(t, path)
			})
		}
	}
}

// A lost lease does not block the next acquire of the process, even if the
// caller never releases the lost one.
func TestLostLeaseFreesItsPlaceInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		for range 5 {
			lease := locktest.Acquire(t, ctx, m) // never released
			queue := queueUp(ctx, m, 3)
			w.Fake.Session(c.SessionID()).Expire()
			<-lease.Context().Done()
			var all sync.WaitGroup // the acquires at the server queue again, in any order
			for _, p := range queue {
				all.Go(func() { assert.NoError(t, p.Wait(t).Release(ctx)) })
			}
			all.Wait()
		}
	})
}

func TestTryAcquireOfABusyObjectNamesTheHolderWithoutANode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, locks.WithNodeData([]byte("till 7")))
		queue := queueUp(ctx, m, 4)
		w.Fake.ClearRequests()
		_, err := m.TryAcquire(ctx)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "till 7", refused.Identity().Foreign)
		require.Equal(t, 4, refused.Ahead)
		require.Empty(t, w.Requests())
		for _, p := range queue {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
	})
}

func TestQueueLimitFailsAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, locks.WithQueueLimit(3))
		queue := queueUp(ctx, m, 3)
		_, err := m.Acquire(ctx)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		// Two of the three acquires have nodes.
		elsewhere := locks.NewInterProcessMutex(c, path, locks.WithQueueLimit(2))
		_, err = elsewhere.Acquire(ctx)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.NotEmpty(t, refused.Identity)

		require.NoError(t, queue[0].Wait(t).Release(ctx))
		queue[0] = locktest.AcquireLater(ctx, m)
		for _, p := range append(queue[1:], queue[0]) {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// An acquire behind goroutines of its own process knows that the queue is full, also
// if it cannot reach a server.
func TestQueueThatIsFullInTheProcessNeedsNoConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithSessionTimeout(time.Minute))
		m := locks.NewInterProcessMutex(c, path, locks.WithQueueLimit(3))
		queue := queueUp(ctx, m, 3)
		w.Stop()
		_, err := m.Acquire(ctx)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		w.Start()
		for _, p := range queue {
			p.Wait(t).Release(ctx)
		}
		w.NothingLeft(t, path)
	})
}

func TestOptionsThatCannotBeUsedAreErrorsOfEveryAcquire(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, opt := range []locks.MutexOption{
			locks.WithQueueLimit(0), locks.WithNodeData(make([]byte, 2000)), locks.WithNodeData([]byte("__REVOKE__")),
			handingOver(0, time.Second), handingOver(1, 0), nil,
		} {
			_, err := locks.NewInterProcessMutex(c, "/l", opt).Acquire(t.Context())
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}

// An acquire that ends at the server leaves its place to the next acquire of
// its object, for whatever reason it ends.
func TestFailedAcquireGivesItsPlaceBack(t *testing.T) {
	for _, opts := range [][]locks.MutexOption{nil, {handingOver(1, time.Hour)}} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			other := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, path))
			m := locks.NewInterProcessMutex(c, path, opts...)
			for i := range 6 {
				limited, cancel := context.WithTimeout(ctx, time.Second)
				if i%2 == 0 {
					w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
				}
				_, err := m.Acquire(limited)
				require.Error(t, err)
				_, err = m.TryAcquire(ctx)
				require.ErrorIs(t, err, locks.ErrNotAcquired)
				cancel()
			}
			queue := queueUp(ctx, m, 4)
			require.Len(t, w.Nodes(t, path), 2, "the other client's, and ours")
			require.NoError(t, other.Release(ctx))
			for _, p := range queue {
				require.NoError(t, p.Wait(t).Release(ctx))
			}
			w.NothingLeft(t, path)
		})
	}
}

// Two places at the server become free at the same moment. The arrivals that
// get them must not overtake each other on the way.
func TestArrivalsDoNotOvertakeEachOtherOnTheWayToTheServer(t *testing.T) {
	for range thorough.Size(300, 60) {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			m := locks.NewInterProcessMutex(c, path)
			leaving, cancel := context.WithCancel(ctx)
			first := locktest.Acquire(t, ctx, m)
			going := queueUp(leaving, m, 1)
			rest := queueUp(ctx, m, 6)
			go cancel()
			go first.Release(ctx)
			<-going[0].Done
			if going[0].Err == nil {
				require.NoError(t, going[0].Lease.Release(ctx))
			}
			for i, p := range rest {
				lease := p.Wait(t)
				for _, later := range rest[i+1:] {
					require.False(t, later.IsOver())
				}
				require.NoError(t, lease.Release(ctx))
			}
			w.NothingLeft(t, path)
		})
	}
}
