package locks_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// The contexts of acquires end while any of their requests is under way,
// however the request fares. The acquires return at that moment. They leave no
// node, no watch and no goroutine (the bubble looks for goroutines), and the
// next contender gets the lock. This holds for one acquire and for several of
// one object. It holds for a lock that is free, for one that has never been
// used, and for one that is held.
//
// Promise: An Acquire that fails holds nothing and leaves no node.
func TestCancelAtEveryAwaitPoint(t *testing.T) {
	t.Parallel()
	variants := []struct {
		name     string
		held     bool
		acquires int
	}{{"free", false, 1}, {"held", true, 1}, {"several", false, 3}}
	for _, kind := range kindsOfLocks {
		for _, v := range variants {
			for _, faultName := range slices.Sorted(maps.Keys(recipetest.Faults(nil, 0))) {
				name := kind.name + "/" + v.name + "/" + faultName
				if !thorough.Picked(8, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					recipetest.EachRequest(t, 1, func(t *testing.T, i int) (hit bool) {
						inVirtualTime(t, func(t *testing.T, w *world) { hit = w.cancelAt(t, kind, v.held, v.acquires, faultName, i) })
						return hit
					})
				})
			}
		}
	}
}

// cancelAt lets a client's acquires, with a short deadline, run into a fault
// at their i-th request. It reports whether there was such a request.
func (w *world) cancelAt(t *testing.T, kind lockKind, held bool, acquires int, faultName string, i int) (hit bool) {
	const patience = 100 * time.Millisecond
	c, _ := w.Connect(t)
	rival, _ := w.Connect(t)
	var holder lease = none{}
	if held {
		holder = must(kind.blocker(rival)(t.Context()))(t)
	}
	acquire, after := kind.taker(t, c)
	before := w.counts(t, kind)

	session := c.SessionID()
	fault := w.Fake.Inject(zktest.Rule{Optional: true, Session: session, After: i, Do: recipetest.Faults(w.World, session)[faultName]})
	// The delay keeps a broken connection from coming back before the context
	// ends.
	w.Fake.Inject(zktest.Rule{Optional: true, Op: zktest.OpConnect, Session: session, Times: -1, Do: zktest.DelayRequest(2 * patience)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	start := time.Now()
	var all sync.WaitGroup
	for range acquires {
		all.Go(func() {
			l, err := acquire(ctx)
			if err != nil {
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
				assert.Equal(t, patience, time.Since(start))
				return
			}
			<-ctx.Done()
			l.Release(ctx) // the lease may be lost by now
		})
	}
	all.Wait()
	hit = fault.Hits() > 0
	time.Sleep(time.Minute) // the client needs time to clean up
	if !strings.HasPrefix(faultName, "session lost") || kind.name != "downgrade" {
		require.Equal(t, before, w.counts(t, kind), "request %d", i)
	}
	for _, watch := range w.Fake.Watches() {
		ofAGuard := watch.Session == rival.SessionID() || kind.name == "downgrade" && !strings.Contains(watch.Path, "__READ__")
		require.True(t, ofAGuard, "request %d left a watch: %v", i, watch)
	}

	next := make(chan lease)
	go func() { next <- must(kind.rival(rival)(t.Context()))(t) }()
	synctest.Wait()
	after()
	require.NoError(t, holder.Release(t.Context()))
	require.NoError(t, (<-next).Release(t.Context()))
	for _, path := range kind.paths {
		w.WaitNodes(t, path, 0)
	}
	w.NoWatches(t)
	return hit
}

func (w *world) counts(t *testing.T, kind lockKind) (n []int) {
	for _, path := range kind.paths {
		n = append(n, len(w.Nodes(t, path)))
	}
	return n
}
