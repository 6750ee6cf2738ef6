package cache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
)

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
