package atomic_test

import (
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

func TestSequences(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		path := recipetest.Path(t) + "/ids/"
		var mu sync.Mutex // protects the following fields
		ids, dense := map[int64]bool{}, map[int32]bool{}
		var all sync.WaitGroup
		const clients, writers, each = 3, 4, 10
		for range clients {
			c, _ := w.Connect(t)
			next, number := atomic.NewSequence(c, path+"next"), atomic.NewSequence(c, path+"dense")
			for range writers {
				all.Go(func() {
					var last int64
					for range each {
						id, err := next.Next(ctx)
						assert.NoError(t, err)
						assert.Greater(t, id, last)
						last = id
						n, err := number.NextDense(ctx)
						assert.NoError(t, err)
						mu.Lock()
						ids[id], dense[n] = true, true
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		require.Len(t, ids, clients*writers*each)
		require.Len(t, dense, clients*writers*each)
		require.True(t, dense[1])
		require.True(t, dense[clients*writers*each], "they are dense")
	})
}

// Dense numbers that begin again are an error. Those that need not be dense do
// not begin again.
func TestDeletedSequence(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		path := recipetest.Path(t)
		s := atomic.NewSequence(c, path)
		id, err := s.Next(ctx)
		require.NoError(t, err)
		_, err = s.NextDense(ctx)
		require.NoError(t, err)
		require.NoError(t, c.Delete(ctx, path, framework.AnyVersion))
		later, err := s.Next(ctx)
		require.NoError(t, err)
		require.Greater(t, later, id)
		_, err = s.NextDense(ctx)
		require.ErrorIs(t, err, atomic.ErrRestarted)
		n, err := s.NextDense(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
	})
}

// Somebody deletes the node, or its parent, as soon as it is created. The
// sequence tries again after pauses, and not for ever.
func TestSequenceThatIsDeletedAtOnce(t *testing.T) {
	for op, deleted := range map[zktest.Op]string{zktest.OpCreate: "/x/s", zkinside.OpCreateContainer: "/x"} {
		for times, fails := range map[int]bool{3: false, -1: true} {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: deleted, Times: times, Do: zktest.CallAfter(func(zktest.Request) {
					_ = w.Fake.Delete(deleted)
				})})
				w.Fake.ClearRequests()
				begun := time.Now()
				_, err := atomic.NewSequence(c, "/x/s").Next(w.Patience(t))
				if fails {
					require.ErrorIs(t, err, zk.ErrNoNode)
					require.Greater(t, time.Since(begun), time.Second)
				} else {
					require.NoError(t, err)
				}
				require.Less(t, time.Since(begun), time.Minute)
				require.Less(t, len(w.Requests()), 200)
			})
		}
	}
}
