package inspect_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func (w *world) graph(t *testing.T, opts ...inspect.Option) inspect.Graph {
	t.Helper()
	graph, err := inspect.WaitGraph(w.Patience(t), w.Observer, []string{"/"}, opts...)
	require.NoError(t, err)
	return graph
}

// ring makes each service hold a lock, and wait for the next service's lock. The
// function returned ends the waits.
func (w *world) ring(t *testing.T, dir string, names ...string) (giveUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(w.Patience(t))
	clients := make([]*framework.Client, len(names))
	for i, name := range names {
		clients[i] = w.service(t, name)
		locktest.Acquire(t, ctx, locks.NewInterProcessMutex(clients[i], dir+"/"+name))
	}
	for i := range names {
		next := dir + "/" + names[(i+1)%len(names)]
		locktest.AcquireLater(ctx, locks.NewInterProcessMutex(clients[i], next))
		w.WaitNodes(t, next, 2)
	}
	return cancel
}

func processesIn(d inspect.Deadlock) (names []string) {
	for _, b := range d.Cycle {
		names = append(names, b.Waiters[0].Service)
	}
	return names
}

// Two and three processes that lock in opposite order are named, with the locks
// that they hold and wait for.
func TestDeadlockIsNamed(t *testing.T) {
	for name, names := range map[string][]string{"two": {"a", "b"}, "three": {"a", "b", "c"}} {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				dir := recipetest.Path(t)
				begin := time.Now()
				w.ring(t, dir, names...)
				bystander := w.acquireBehind(t, locks.NewInterProcessMutex(w.service(t, "z"), dir+"/a"), dir+"/a", 3)
				graph, err := inspect.WaitGraph(w.Patience(t), w.Observer, []string{dir, dir + "/a"})
				require.NoError(t, err)
				require.Len(t, graph.Waits, len(names))
				require.Len(t, graph.Deadlocks, 1)
				d := graph.Deadlocks[0]
				require.ElementsMatch(t, names, processesIn(d))
				require.Equal(t, []string{"may_lead", "several_tasks"}, d.Doubts)
				require.WithinDuration(t, begin, d.Since, time.Minute)
				for i, b := range d.Cycle {
					next := d.Cycle[(i+1)%len(d.Cycle)]
					require.Equal(t, b.Holders[0].Service, next.Waiters[0].Service)
					require.Equal(t, dir+"/"+b.Holders[0].Service, b.Path)
					require.Equal(t, d.Processes[i], b.Waiters[0].String())
				}
				require.False(t, bystander.IsOver())
			})
		})
	}
}

// A cycle that comes apart between the two looks is not reported, nor one that
// is there again with other nodes.
func TestCycleThatDissolvesIsNotReported(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, w *world, giveUp func()){
		"a waiter gives up": func(t *testing.T, w *world, giveUp func()) { giveUp() },
		"a holder crashes": func(t *testing.T, w *world, giveUp func()) {
			w.Fake.Session(w.one(t, "/l/a").Holders[0].Session).Expire()
		},
		"the same again, with another node": func(t *testing.T, w *world, giveUp func()) {
			waiter := w.one(t, "/l/a").Waiters[0]
			owner := w.service(t, "b")
			require.NoError(t, w.Fake.Delete(waiter.Path))
			data, err := json.Marshal(map[string]any{"v": 1, "host": waiter.Host, "pid": waiter.PID, "service": "b"})
			require.NoError(t, err)
			create(t, owner, waiter.Path, string(data), framework.Ephemeral)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				giveUp := w.ring(t, "/l", "a", "b")
				require.Len(t, w.graph(t).Deadlocks, 1)
				graphs, errs := make(chan inspect.Graph, 1), make(chan error, 1)
				begin := time.Now()
				go func() {
					graph, err := inspect.WaitGraph(w.Patience(t), w.Observer, []string{"/"})
					graphs <- graph
					errs <- err
				}()
				time.Sleep(time.Second / 2)
				change(t, w, giveUp)
				graph := <-graphs
				require.NoError(t, <-errs)
				require.Len(t, graph.Waits, 2, "as in the first look")
				require.Empty(t, graph.Deadlocks)
				require.GreaterOrEqual(t, time.Since(begin), time.Second)
			})
		})
	}
}

// Busy processes hold and wait in many goroutines. That is no deadlock within
// one of them, nor of two in a single semaphore. Candidates of latches are not
// stuck.
func TestCyclesThatAreNoDeadlocks(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, w *world){
		"one process": func(t *testing.T, w *world) {
			a, b := w.service(t, "a"), w.service(t, "a")
			locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(a, "/x"))
			locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(b, "/y"))
			w.acquireBehind(t, locks.NewInterProcessMutex(b, "/x"), "/x", 2)
			w.acquireBehind(t, locks.NewInterProcessMutex(a, "/y"), "/y", 2)
		},
		"one semaphore": func(t *testing.T, w *world) {
			for i := range 2 {
				s := locks.NewInterProcessSemaphore(w.service(t, string(rune('a'+i))), "/s", locks.Limit(2))
				locktest.Acquire(t, w.Patience(t), s)
				defer func() { w.acquireBehind(t, s, "/s/locks", 2-i) }()
			}
		},
		"latches": func(t *testing.T, w *world) {
			for _, order := range [][]string{{"/x", "/y"}, {"/y", "/x"}} {
				c := w.service(t, order[0])
				for _, path := range order {
					latch, err := leader.NewLatch(c, path)
					require.NoError(t, err)
					t.Cleanup(func() { latch.Shutdown(w.Patience(t)) })
					time.Sleep(time.Second)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				make(t, w)
				waiting := 0
				for _, r := range w.walk(t, "/") {
					waiting += len(r.Waiters)
				}
				require.GreaterOrEqual(t, waiting, 2)
				require.Empty(t, w.graph(t).Deadlocks)
			})
		})
	}
}

// A waiter at a semaphore is stuck if all who have leases are. The limit may
// not be known.
func TestDeadlockThroughASemaphore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		a, b, c := w.service(t, "a"), w.service(t, "b"), w.service(t, "c")
		limit := locks.SharedLimit("/s-limit", 2)
		locktest.Acquire(t, ctx, locks.NewInterProcessSemaphore(a, "/s", limit))
		other := locktest.Acquire(t, ctx, locks.NewInterProcessSemaphore(c, "/s", limit))
		locktest.Acquire(t, ctx, locks.NewInterProcessMutex(b, "/m"))
		w.acquireBehind(t, locks.NewInterProcessMutex(a, "/m"), "/m", 2)
		w.acquireBehind(t, locks.NewInterProcessSemaphore(b, "/s", limit), "/s/locks", 1)
		require.Empty(t, w.graph(t).Deadlocks, "the third may give its lease back")

		waiting := w.acquireBehind(t, locks.NewInterProcessMutex(c, "/m"), "/m", 3)
		graph := w.graph(t)
		require.Len(t, graph.Deadlocks, 1)
		require.Contains(t, graph.Deadlocks[0].Doubts, "limit_not_known")
		limits := inspect.WithSharedLimits(func(semaphore string) string { return semaphore + "-limit" })
		require.NotContains(t, w.graph(t, limits).Deadlocks[0].Doubts, "limit_not_known")
		require.False(t, waiting.IsOver())
		require.NoError(t, other.Release(ctx))
	})
}

// If each process holds and waits within one trace, there are fewer doubts.
func TestTracesRemoveADoubt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		node := func(service, trace, path string) {
			c := w.service(t, service)
			create(t, c, path, `{"v":1,"host":"h","pid":1,"service":"`+service+`","trace":{"traceparent":"00-`+trace+`-b7ad6b7169203331-01"}}`,
				framework.Ephemeral)
		}
		node("a", "1", "/x/__WRIT__0000000001")
		node("b", "2", "/y/__WRIT__0000000001")
		node("b", "2", "/x/__WRIT__0000000002")
		node("a", "1", "/y/__WRIT__0000000002")
		graph := w.graph(t)
		require.Len(t, graph.Deadlocks, 1, "two sessions of one process are one party")
		require.Empty(t, graph.Deadlocks[0].Doubts)

		require.NoError(t, w.Fake.Delete("/y/__WRIT__0000000002"))
		node("a", "3", "/y/__WRIT__0000000003")
		require.Equal(t, []string{"several_tasks"}, w.graph(t).Deadlocks[0].Doubts)
	})
}

// Two processes wait for each other's lock. One of the locks was released, and
// goes by itself.
func TestKeptLockIsNoDeadlock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, dir := w.Patience(t), recipetest.Path(t)
		a, b := w.service(t, "a"), w.service(t, "b")
		policy := locks.WithReleasePolicy(locks.ReleasePolicy{MinimumHold: time.Minute})
		kept := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(a, dir+"/a", policy))
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(b, dir+"/b"))
		ofA := w.acquireBehind(t, locks.NewInterProcessMutex(a, dir+"/b"), dir+"/b", 2)
		ofB := w.acquireBehind(t, locks.NewInterProcessMutex(b, dir+"/a"), dir+"/a", 2)
		require.Len(t, w.graph(t).Deadlocks, 1)
		require.NoError(t, kept.Release(ctx))
		graph := w.graph(t)
		require.Len(t, graph.Waits, 2)
		require.Empty(t, graph.Deadlocks)
		require.NoError(t, ofB.Wait(t).Release(ctx))
		require.NoError(t, held.Release(ctx))
		require.NoError(t, ofA.Wait(t).Release(ctx))
	})
}
