package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A fault hits one request of a walk, whichever it is. The answer is complete,
// or there is an error that says what has happened. There is never a part of an
// answer without an error.
//
// Promise: A walk that could not list a node returns an error.
func TestFaultAtEveryRequestOfAWalk(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.scene(t, w.Observer)
		for _, fault := range recipetest.RequestFaults {
			complete := 0
			for hit, i := true, 0; hit; i++ {
				hit = w.faultAt(t, fault, i, &complete)
			}
			require.Equal(t, fault.Name != recipetest.RefusedRequest.Name, complete > 0, "%s: %d complete answers", fault.Name, complete)
		}
	})
}

func (w *world) faultAt(t *testing.T, fault recipetest.RequestFault, i int, complete *int) (hit bool) {
	c, _ := w.Connect(t)
	defer c.Close()
	want := nodesInAll(collect(t.Context(), c))
	require.Len(t, want, 9)

	injected := w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), After: i, Do: fault.On(w.Fake)})
	got, err := collect(t.Context(), c)
	if err == nil {
		require.Equal(t, want, nodesInAll(got, nil), "%s at request %d", fault.Name, i)
		if injected.Hits() > 0 {
			*complete++
		}
	} else {
		var op *framework.OpError
		require.ErrorAs(t, err, &op, "%s at request %d", fault.Name, i)
		require.True(t, framework.IsConnectionError(err) || errors.Is(err, framework.ErrSessionLost) || fault.Name == recipetest.RefusedRequest.Name,
			"%s at request %d: %v", fault.Name, i, err)
	}
	return injected.Hits() > 0
}

// scene makes recipes of all layouts, with nine participants.
func (w *world) scene(t *testing.T, c *framework.Client) {
	t.Helper()
	forest(t, c, "/r/forest", 2)
	create(t, c, "/r/sem/leases/"+javaIs+"lease-0000000001", "", framework.Ephemeral)
	create(t, c, "/r/sem/locks/"+javaIs+"lock-0000000001", "", framework.Ephemeral)
	create(t, c, "/r/kazoo/"+hex, "", framework.Ephemeral)
	create(t, c, "/r/kazoo-__lock__/"+pyMutex+"0000000001", "", framework.Ephemeral)
	create(t, c, "/r/group/a", "", framework.Ephemeral)
}

func collect(ctx context.Context, c *framework.Client) (all []inspect.Recipe, err error) {
	for r, err := range inspect.Walk(ctx, c, "/r") {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

func nodesInAll(all []inspect.Recipe, _ error) (paths []string) {
	for _, r := range all {
		paths = append(paths, nodesOf(r)...)
	}
	return paths
}

// The end of the caller's context, and of the client, are errors.
func TestEndOfAWalk(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		forest(t, w.Observer, "/r", 50)
		for name, want := range map[string]error{
			"canceled": context.Canceled, "closed": framework.ErrClosed, "over before": context.Canceled,
		} {
			c, _ := w.Connect(t)
			ctx, cancel := context.WithCancel(t.Context())
			if name == "over before" {
				cancel()
			}
			n := 0
			var last error
			for _, err := range inspect.Walk(ctx, c, "/r") {
				if n++; n == 10 && name == "closed" {
					c.Close()
				} else if n == 10 {
					cancel()
				}
				last = err
			}
			cancel()
			require.ErrorIs(t, last, want, name)
			var op *framework.OpError
			require.ErrorAs(t, last, &op, name)
			require.Less(t, n, 50, name)
		}
	})
}

// Nodes that go while they are read are no error. A holder that has gone leaves
// the lock to the next one.
func TestNodesThatGoMeanwhile(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		lock := func(i int, seq int) string { return fmt.Sprintf("/r/%d/lock-%010d", i, seq) }
		for i := range 3 {
			for seq := range 3 - i {
				create(t, w.Observer, lock(i, seq), fmt.Sprint(seq), framework.Ephemeral)
			}
		}
		gone := func(paths ...string) zktest.Action {
			return zktest.Call(func(zktest.Request) {
				for _, path := range paths {
					_ = w.Fake.Delete(path)
				}
			})
		}
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: lock(0, 0), Do: gone(lock(0, 0))})
		w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/r/1", Do: gone(lock(1, 0), lock(1, 1), "/r/1")})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: lock(2, 0), Do: gone(lock(2, 0))})
		create(t, w.Observer, "/r/s/leases/lease-0000000001", "", framework.Ephemeral)
		create(t, w.Observer, "/r/s/locks", "", framework.Container)
		w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/r/s/locks", Do: gone("/r/s/locks")})
		all := w.walk(t, "/r")
		require.Len(t, all, 2)
		require.Equal(t, "/r/s", all[1].Path, "the server removes an empty gate")
		require.Equal(t, "/r/0", all[0].Path)
		require.Equal(t, []string{"1"}, ids(all[0].Holders))
		require.Equal(t, []string{"2"}, ids(all[0].Waiters))
		require.Equal(t, 1, all[0].Waiters[0].Position)
	})
}

// The holder of a write lock takes the read lock and gives the write lock up,
// while a walk has listed the queue and not yet read it. It holds all the while.
func TestHolderThatDowngradesMeanwhileHolds(t *testing.T) {
	for _, waiters := range []int{0, 1} {
		for _, most := range []int{1, 10} {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				lock := locks.NewInterProcessReadWriteLock(w.service(t, "holder"), "/rw")
				writer := locktest.Acquire(t, ctx, lock.WriteLock())
				for range waiters {
					w.acquireBehind(t, locks.NewInterProcessReadWriteLock(w.service(t, "waiter"), "/rw").WriteLock(), "/rw", 2)
				}
				head := w.Fake.Inject(zktest.Rule{Session: w.Observer.SessionID(), Op: zktest.OpGetData, Do: zktest.Call(func(zktest.Request) {
					_, err := lock.ReadLock().Acquire(writer.Context())
					require.NoError(t, err)
					require.NoError(t, writer.Release(ctx))
				})})
				r := w.one(t, "/rw", inspect.WithMaxParticipants(most))
				require.Equal(t, 1, head.Hits())
				require.Equal(t, []string{"holder"}, services(r.Holders))
				require.True(t, r.Holders[0].Reader)
				require.Equal(t, waiters, len(r.Waiters)+r.Unread)
			})
		}
	}
}

// One contender comes behind another, and that one goes, while a walk has listed
// the queue and not yet read it. The lock was never free.
func TestRecipeThatIsHandedOverMeanwhileIsListed(t *testing.T) {
	for kind, nodes := range map[inspect.Kind][2]string{
		inspect.Mutex:         {"/r/lock-0000000001", "/r/lock-0000000002"},
		inspect.ReadWriteLock: {"/r/__WRIT__0000000001", "/r/__WRIT__0000000002"},
		inspect.LeaderLatch:   {"/r/latch-0000000001", "/r/latch-0000000002"},
		inspect.Semaphore:     {"/r/leases/" + javaIs + "lease-0000000001", "/r/leases/" + javaIs + "lease-0000000002"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first := create(t, w.Observer, nodes[0], "", framework.Ephemeral)
				c := w.service(t, "next")
				read := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: first, Do: zktest.Call(func(zktest.Request) {
					create(t, c, nodes[1], "", framework.Ephemeral)
					require.NoError(t, w.Fake.Delete(first))
				})})
				r := w.one(t, "/r")
				require.Equal(t, 1, read.Hits())
				require.Equal(t, kind, r.Kind)
				require.Len(t, r.Holders, 1)
				require.Equal(t, nodes[1], r.Holders[0].Path)
			})
		})
	}
}

// Whoever is first at the gate of a semaphore takes a lease while a walk has listed
// the leases and not yet the gate.
func TestSemaphoreThatIsTakenBetweenTwoListsIsListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		create(t, w.Observer, "/s/leases", "", framework.Persistent)
		waits := create(t, w.Observer, "/s/locks/lock-0000000001", "", framework.Ephemeral)
		lease := "/s/leases/" + javaIs + "lease-0000000001"
		c := w.service(t, "taker")
		gate := w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/s/locks", Do: zktest.Call(func(zktest.Request) {
			create(t, c, lease, "", framework.Ephemeral)
			require.NoError(t, w.Fake.Delete(waits))
		})})
		r := w.one(t, "/s")
		require.Equal(t, 1, gate.Hits())
		require.Len(t, r.Holders, 1)
		require.Equal(t, lease, r.Holders[0].Path)
	})
}

// Whoever is at the gate of a semaphore takes a lease, and the server deletes the
// gate, or the empty folder of leases while the gate is entered.
func TestSemaphoreThatLosesAFolderMeanwhileIsListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		waits, lease := "/s/locks/lock-0000000001", "/s/leases/"+javaIs+"lease-0000000001"
		create(t, w.Observer, "/s/leases", "", framework.Persistent)
		create(t, w.Observer, waits, "", framework.Ephemeral)
		gate := w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/s/locks", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, w.Fake.Create(lease, nil))
			require.NoError(t, w.Fake.Delete(waits))
			require.NoError(t, w.Fake.Delete("/s/locks"))
		})})
		require.Equal(t, []string{lease}, nodesIn(w.one(t, "/s", inspect.WithDepth(0)).Holders))
		require.Equal(t, 1, gate.Hits())

		leases := w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Path: "/s/leases", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, w.Fake.Create("/s/locks", nil))
			require.NoError(t, w.Fake.Create(waits, nil))
			require.NoError(t, w.Fake.Delete(lease))
			require.NoError(t, w.Fake.Delete("/s/leases"))
		})})
		require.Equal(t, []string{waits}, nodesIn(w.one(t, "/s", inspect.WithDepth(0)).Waiters))
		require.Equal(t, 1, leases.Hits())
	})
}

// A lock is handed over whenever its holder is read. The walk ends all the same,
// and does not take the lock for free.
//
// Promise: A lock that is handed over during each look is not reported as free.
func TestWalkEndsBesideALockThatIsHandedOverAllTheTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		create(t, w.Observer, "/r/lock-0000000000", "", framework.Ephemeral)
		next := 0
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/r/*", Times: -1, Do: zktest.Call(func(q zktest.Request) {
			next++
			require.NoError(t, w.Fake.Create(fmt.Sprintf("/r/lock-%010d", next), nil))
			require.NoError(t, w.Fake.Delete(q.Path))
		})})
		r := w.one(t, "/r")
		require.Less(t, next, 10)
		require.Equal(t, inspect.Mutex, r.Kind)
		require.Empty(t, r.Holders)
		require.Empty(t, r.Waiters)
		require.Equal(t, 1, r.Unread)
		require.Empty(t, w.graph(t).Waits)
	})
}

// A writer leaves during each read. It may have become a reader, which holds the
// lock all the while: so nothing says that the next writer holds.
func TestWriterBehindAWriterThatLeftIsUnsure(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		writer := func(seq int) string { return fmt.Sprintf("/rw/__WRIT__%010d", seq) }
		for seq := range 13 {
			create(t, w.Observer, writer(seq), "", framework.Ephemeral)
		}
		left := 0
		w.Fake.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Times: -1, Do: zktest.Call(func(zktest.Request) {
			assert.NoError(t, w.Fake.Delete(writer(left)))
			left++
		})})
		r := w.one(t, "/rw")
		require.Equal(t, []string{writer(left)}, nodesIn(r.Holders))
		require.True(t, r.Holders[0].Unsure)
		require.False(t, r.Waiters[0].Unsure)
		require.Empty(t, w.waits(t, "/rw"), "the holder is not known")
	})
}

// What is there from the begin of a walk to its end is reported, whatever
// comes and goes beside it.
func TestWalkIsCompleteWhileLocksComeAndGo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		stay := forest(t, w.Observer, "/r", 100)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c, _ := w.Connect(t)
		var others sync.WaitGroup
		others.Go(func() {
			for i := 0; ctx.Err() == nil; i = (i + 7) % 100 {
				path := fmt.Sprintf("/r/sku-%05d-brief/lock-", i)
				node, err := c.Create(ctx, path, nil, framework.WithMode(framework.EphemeralSequential), framework.WithParents())
				time.Sleep(time.Millisecond)
				if err == nil {
					_ = c.Delete(ctx, node.Path, framework.AnyVersion)
				}
				_ = w.Fake.Delete(path[:len(path)-len("/lock-")])
			}
		})
		w.Fake.Inject(zktest.Rule{Path: "/r/*", Times: -1, Session: w.Observer.SessionID(), Do: zktest.DelayReply(time.Millisecond)})
		for range 3 {
			told := map[string]bool{}
			for _, r := range w.walk(t, "/r") {
				require.False(t, told[r.Path], "once each")
				told[r.Path] = true
			}
			for _, path := range stay {
				require.True(t, told[path], path)
			}
		}
		stop()
		others.Wait()
	})
}
