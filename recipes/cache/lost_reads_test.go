package cache_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
)

// Two connections end, one shortly after the other, as in an election, while more
// than 64 nodes are hot. The cache takes steps again at once.
func TestCacheOfManyHotNodesTakesStepsBehindTwoCuts(t *testing.T) {
	for _, apart := range thorough.Some(4, 64, 70, 74, 80, 84, 90, 94, 104, 110, 116, 120, 124, 140, 150) {
		onHotTree(t, fmt.Sprint(apart, " ms"), func(h *hotTree, roundTrip time.Duration) {
			h.changeAll(time.Second)
			require.Less(h, h.cache.Stats().Lag, time.Second)
			h.srv.CutAll()
			h.changeAll(time.Duration(apart) * time.Millisecond)
			h.srv.CutAll()
			h.changeAll(2 * time.Second)
			require.Less(h, h.cache.Stats().Lag, time.Second)
			h.check(time.Minute)
		})
	}
}

// A multiRead of hot nodes is too long. The next ones are shorter, and as soon as the
// hot nodes fit into one, the cache takes steps.
func TestMultiReadOfHotNodesThatIsTooLongIsHalved(t *testing.T) {
	onHotTree(t, "", func(h *hotTree, roundTrip time.Duration) {
		h.changeAll(time.Second)
		require.NoError(h, h.cache.WaitFor(within(h.T), h.srv.Stats().Zxid))
		for range 2 {
			h.srv.ClearRequests()
			h.change(time.Second, func(int) { h.write("/r/hot0") })
			require.Less(h, h.cache.Stats().Lag, time.Second)
			require.NotZero(h, h.srv.CountRequests(zkinside.OpMultiRead))
		}
		h.check(time.Minute)
	}, framework.WithMaxRequestSize(1<<10))
}
