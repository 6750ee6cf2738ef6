package atomic_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// Clients that count without a pause are all served: none is the first all the
// time, because it was the first before and need not read. The bounds are far from
// what is usual, which is from a fourteenth to a fifth, for three requests each.
func TestWritersTakeTurns(t *testing.T) {
	takeTurns(t, func(ctx context.Context, n *atomic.Long) error {
		_, err := n.Add(ctx, 1)
		return err
	})
}

// An Update that loses to faster clients yields, as an Add does, although each of its
// tries is a separate write.
func TestUpdatesTakeTurns(t *testing.T) {
	takeTurns(t, func(ctx context.Context, n *atomic.Long) error {
		_, err := n.Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
		return err
	})
}

func takeTurns(t *testing.T, add func(ctx context.Context, n *atomic.Long) error) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const writers, way = 8, time.Millisecond
		longs := make([]*atomic.Long, writers)
		for i := range longs {
			c, _ := w.Connect(t)
			longs[i] = atomic.NewLong(c, "/n")
		}
		require.NoError(t, longs[0].Store(w.Patience(t), 0))
		w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.All(zktest.DelayRequest(way), zktest.DelayReply(way))})
		w.Fake.ClearRequests()
		ctx := recipetest.Within(t, 10*time.Second)
		added := make([]int, writers)
		var all sync.WaitGroup
		for i, n := range longs {
			all.Go(func() {
				for add(ctx, n) == nil { // until the context ends
					added[i]++
				}
			})
		}
		all.Wait()
		sum := 0
		for _, n := range added {
			sum += n
		}
		t.Log(added, len(w.Requests()))
		require.Less(t, slices.Max(added), sum/3)
		require.Greater(t, slices.Min(added), sum/50)
		require.Less(t, len(w.Requests()), 4*sum)
	})
}
