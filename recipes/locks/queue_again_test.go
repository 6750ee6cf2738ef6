package locks_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A fault hits any request of an acquire whose context does not end, from the
// creation of the node to the deletion by the release. The acquire gets its
// lock in the end. Only a downgrade may be told instead that the session is
// lost. In both cases nothing is left behind.
func TestFaultAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfLocks {
		for _, held := range []bool{false, true} {
			for _, faultName := range slices.Sorted(maps.Keys(recipetest.Faults(nil, 0))) {
				name := kind.name + "/free/" + faultName
				if held {
					name = kind.name + "/held/" + faultName
				}
				if !thorough.Picked(8, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					recipetest.EachRequest(t, 1, func(t *testing.T, i int) (hit bool) {
						inVirtualTime(t, func(t *testing.T, w *world) { hit = w.faultAt(t, kind, held, faultName, i) })
						return hit
					})
				})
			}
		}
	}
}

// faultAt lets an acquire and release run into a fault at their i-th request.
// It reports whether there was such a request.
func (w *world) faultAt(t *testing.T, kind lockKind, held bool, faultName string, i int) (hit bool) {
	ctx := w.Patience(t)
	c, _ := w.Connect(t)
	rival, _ := w.Connect(t)
	var holder lease = none{}
	if held {
		holder = must(kind.blocker(rival)(ctx))(t)
	}
	acquire, after := kind.taker(t, c)
	fault := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: recipetest.Faults(w.World, c.SessionID())[faultName]})

	type result struct {
		lease lease
		err   error
	}
	done := make(chan result, 1)
	go func() {
		l, err := acquire(ctx)
		done <- result{l, err}
	}()
	time.Sleep(time.Minute)
	require.Equal(t, held && kind.name != "downgrade", len(done) == 0, "it waits for the holder alone")
	require.NoError(t, holder.Release(ctx))
	switch r := <-done; {
	case r.err != nil && kind.name == "downgrade":
		require.ErrorIs(t, r.err, framework.ErrSessionLost)
	default:
		require.NoError(t, r.err)
		r.lease.Release(ctx)
	}
	after()
	hit = fault.Hits() > 0
	require.NoError(t, must(kind.rival(rival)(ctx))(t).Release(ctx))
	for _, path := range kind.paths {
		w.WaitNodes(t, path, 0)
	}
	w.NoWatches(t)
	return hit
}

// Somebody deletes the node of a waiter, or the node's parent as well
// (CURATOR-211, CURATOR-315). The waiter queues again.
func TestWaitersOfEveryKindQueueAgain(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == "downgrade" { // a downgrade does not wait
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				rival, _ := w.Connect(t)
				holder := must(kind.blocker(rival)(ctx))(t)
				acquire, _ := kind.taker(t, c)
				got := make(chan lease)
				go func() { got <- must(acquire(ctx))(t) }()
				for range 3 {
					time.Sleep(5 * time.Second) // the node watchers have begun to watch
					for _, path := range kind.paths {
						for _, name := range w.Fake.Children(path) {
							if n, _ := w.Fake.Node(path + "/" + name); n.Stat.EphemeralOwner == c.SessionID() {
								err := w.Fake.Delete(path + "/" + name)
								if err != nil { // a multi-lock gives up its other nodes when it has lost one
									require.ErrorIs(t, err, zktest.ErrNoNode)
								}
							}
						}
					}
				}
				time.Sleep(5 * time.Second)
				select {
				case <-got:
					t.Fatal("admitted beside the holder")
				default:
				}
				require.NoError(t, holder.Context().Err())
				require.NoError(t, holder.Release(ctx))
				l := <-got
				require.NoError(t, l.Context().Err())
				require.NoError(t, l.Release(ctx))
				for _, path := range kind.paths {
					w.WaitNodes(t, path, 0)
				}
				w.NoWatches(t)
			})
		})
	}
}
