package locks_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// An acquire that has to wait, and its release. The least is what could be done with
// on Curator's layout, with a fixed limit or with a shared one.
func TestRequestsOfAnAcquireThatWaitsForLeases(t *testing.T) {
	const multi = zktest.OpMulti
	for name, tc := range map[string]struct {
		limit  locks.SemaphoreLimit
		atGate bool        // one of another client is ahead at the gate, and else the leases are taken
		waits  []zktest.Op // until it waits
		goesOn []zktest.Op // from then on, with the release
		least  int
	}{
		// The least watches the leases with the first list, and the limit with the
		// first read, and reads nobody's name.
		"for a lease": {
			locks.Limit(1), false, []zktest.Op{create, list, list, list, read}, []zktest.Op{list, multi, remove}, 6,
		},
		"for a lease, with a shared limit": {
			locks.SharedLimit("/limit", 1), false, []zktest.Op{create, list, list, read, list, read, read},
			[]zktest.Op{zktest.OpRemoveWatches, list, read, multi, remove}, 8,
		},
		// The least enters on the deletion of the node ahead, see next.go of lockloop.
		"at the gate": {
			locks.Limit(2), true, []zktest.Op{create, list, read}, []zktest.Op{list, list, multi, remove}, 6,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				other, _ := w.Connect(t)
				theirs := locks.NewInterProcessSemaphore(other, "/l", tc.limit)
				require.NoError(t, hold(t, t.Context(), theirs).Release(t.Context())) // makes the parents
				if tc.atGate {
					w.Fake.Inject(zktest.Rule{Op: multi, Session: other.SessionID(), Do: zktest.DelayRequest(time.Second)})
				}
				first := take(w.Patience(t), theirs)
				synctest.Wait()
				c, _ := w.Connect(t)
				second := take(w.Patience(t), locks.NewInterProcessSemaphore(c, "/l", tc.limit))
				time.Sleep(time.Second / 2)
				ours := &pair{world: w}
				require.Equal(t, tc.waits, ours.requestsOf(c))
				lease := first.Wait(t)
				require.NoError(t, lease.Release(t.Context()))
				require.NoError(t, second.Wait(t).Release(t.Context()))
				all := append(tc.waits, tc.goesOn...)
				require.Equal(t, all, ours.requestsOf(c))
				t.Logf("%d requests, and %d is the least", len(all), tc.least)
			})
		})
	}
}

// Many goroutines take leases again and again. A cycle is five requests at least, and
// six if it waits for a lease. It was as many before the leases were listed with the
// gate: whoever is behind others there does not ask for them in vain.
func TestRequestsOfACrowdAtTheLeases(t *testing.T) {
	for name, tc := range map[string]struct {
		clients, goroutines int
		isNew               bool // each acquire has an object of its own
		most                float64
	}{
		"of one object":           {1, 64, false, 7.7},
		"of eight clients":        {8, 8, false, 7},
		"of one client, each new": {1, 64, true, 7.7},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				const cycles = 10
				var all sync.WaitGroup
				for range tc.clients {
					c, _ := w.Connect(t)
					s := locks.NewInterProcessSemaphore(c, "/l", locks.Limit(8))
					require.NoError(t, hold(t, t.Context(), s).Release(t.Context()))
					of := func() *locks.InterProcessSemaphore {
						if tc.isNew {
							return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(8))
						}
						return s
					}
					for range tc.goroutines {
						all.Go(func() {
							for range cycles {
								lease := hold(t, t.Context(), of())
								time.Sleep(10 * time.Millisecond)
								lease.Release(t.Context())
							}
						})
					}
				}
				w.Fake.ClearRequests()
				all.Wait()
				requests := float64(len(w.Requests())) / float64(cycles*tc.clients*tc.goroutines)
				t.Logf("%.2f requests a cycle", requests)
				require.LessOrEqual(t, requests, tc.most)
			})
		})
	}
}

// A fault hits any request of one of two clients that want the only lease one after
// the other.
func TestFaultAtEveryRequestOfTwoAtTheLeases(t *testing.T) {
	t.Parallel()
	for name := range recipetest.Faults(nil, 0) {
		t.Run(name, func(t *testing.T) {
			recipetest.EachRequest(t, 1, func(t *testing.T, i int) (hit bool) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, _ := w.Connect(t)
					other, _ := w.Connect(t)
					theirs := locks.NewInterProcessSemaphore(other, "/l", locks.Limit(1))
					require.NoError(t, hold(t, t.Context(), theirs).Release(t.Context()))
					fault := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: recipetest.Faults(w.World, c.SessionID())[name]})
					w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: -1, Do: zktest.DelayRequest(time.Second / 2)})
					inside := locktest.NewExclusive(t)
					var both sync.WaitGroup
					for round := range 4 {
						of := c
						if round%2 == 0 {
							of = other
						}
						both.Go(func() {
							lease := hold(t, w.Patience(t), locks.NewInterProcessSemaphore(of, "/l", locks.Limit(1)))
							inside.Enter(lease)
							time.Sleep(time.Second)
							lease.Release(w.Patience(t))
						})
						time.Sleep(time.Second / 4)
					}
					both.Wait()
					hit = fault.Hits() > 0
					w.NothingLeft(t, "/l/locks")
					w.NothingLeft(t, "/l/leases")
				})
				return hit
			})
		})
	}
}
