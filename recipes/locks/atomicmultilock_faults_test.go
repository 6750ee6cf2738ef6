package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Clients take some of the same locks together, in any order, while random faults
// hit them. Others take one lock. None waits for ever: between two faults, all
// that wait are served. Each lock has one holder at a time, and its tokens grow.
func TestAtomicMultiLocksUnderRandomFaults(t *testing.T) {
	t.Parallel()
	paths := pathsBelow("/l", 5)
	var inside [5]inside
	var grants, several atomic.Int32
	underRandomFaults(t, 6, func(ctx context.Context, i, round int, c *framework.Client) {
		of := rand.New(rand.NewPCG(uint64(i), uint64(round)))
		n := 1 + of.IntN(3)
		var some []string
		for _, j := range of.Perm(len(paths))[:n] {
			some = append(some, paths[j])
		}
		l := locks.Locker(locks.NewAtomicMultiLock(c, some))
		if n == 1 {
			l = locks.NewInterProcessMutex(c, some[0])
		}
		limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		lease, err := l.Acquire(limited)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("%v waits for ever for %v: %v", i, some, err)
			}
			return
		}
		grants.Add(1)
		if n > 1 {
			several.Add(1)
		}
		for _, part := range lease.Leases() {
			in := &inside[slices.Index(paths, path.Dir(part.Path()))]
			if in.add(0, 1, 0).writers != 1 {
				t.Error("two holders of one lock")
			}
			if !in.write(part.FencingToken()) {
				t.Error("token does not grow")
			}
		}
		stay(lease, round)
		for _, part := range lease.Leases() {
			inside[slices.Index(paths, path.Dir(part.Path()))].add(0, -1, 0)
		}
		lease.Release(ctx)
	}, func(t *testing.T, w *world) {
		for _, p := range paths {
			w.NothingLeft(t, p)
		}
	})
	t.Log(grants.Load(), "grants,", several.Load(), "of several locks")
	require.Greater(t, several.Load(), inTroubledTime(300), fmt.Sprint(grants.Load()))
}
