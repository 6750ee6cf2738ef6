package follow_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Changes has all news up to the end of the life, and then the end. Nothing comes
// when the context has ended, or the caller has left.
func TestChangesOfALife(t *testing.T) {
	l := &follow.Life{Run: untilEnd}
	inLife(t, l, func(t *testing.T, _ *framework.Client) {
		var value atomic.Int64
		changes := func(ctx context.Context) (seen []int64, end error) {
			last := int64(0)
			next := func() (int64, bool) {
				now := value.Load()
				news := now != last
				last = now
				return now, news
			}
			for v, err := range follow.Changes(ctx, l, next, func(err error) error { return err }) {
				if err != nil {
					return seen, err
				}
				if seen = append(seen, v); v == 3 {
					break
				}
			}
			return seen, nil
		}
		type result struct {
			seen []int64
			end  error
		}
		results := make(chan result, 3)
		ctx, cancel := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{t.Context(), ctx} {
			go func() {
				seen, end := changes(ctx)
				results <- result{seen, end}
			}()
		}
		for v := range int64(2) {
			synctest.Wait()
			value.Store(v + 1)
			l.Tell()
		}
		synctest.Wait()
		cancel()
		require.Equal(t, result{[]int64{1, 2}, nil}, <-results)
		value.Store(4)
		l.Stop()
		require.Equal(t, result{[]int64{1, 2, 4}, errOwn}, <-results)
		value.Store(3)
		seen, end := changes(t.Context())
		require.Equal(t, []int64{3}, seen)
		require.NoError(t, end)
	})
}
