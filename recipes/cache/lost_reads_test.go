package cache_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// A connection ends by accident with its first multiRead. The servers have
// answered many before. The cache goes on reading hot nodes together.
func TestCacheTakesStepsBehindALostMultiRead(t *testing.T) {
	long := thorough.Size(5*time.Second, 2*time.Second)
	onHotTree(t, "", func(h *hotTree, roundTrip time.Duration) {
		h.change(500*time.Millisecond, func(int) { h.write("/r/hot0") })
		h.srv.CutAll()
		h.srv.Inject(zktest.Rule{Op: zktest.OpMultiRead, Do: zktest.DropReply()})
		h.change(long, func(int) { h.write("/r/hot0") })
		h.srv.CutAll() // another server, another connection
		h.change(long, func(int) { h.write("/r/hot0") })
		require.Less(h, h.cache.Stats().Lag, time.Second)
	})
}

// So does one with more hot nodes than the client may read together when a long
// answer has ended the connection: it has had answers as long before.
func TestCacheOfManyHotNodesTakesStepsBehindALostMultiRead(t *testing.T) {
	onHotTree(t, "", func(h *hotTree, roundTrip time.Duration) {
		h.changeAll(time.Second)
		require.Less(h, h.cache.Stats().Lag, time.Second)
		h.srv.Inject(zktest.Rule{Op: zktest.OpMultiRead, Do: zktest.DropReply()})
		h.changeAll(thorough.Size(4*time.Second, 2*time.Second))
		require.Less(h, h.cache.Stats().Lag, time.Second)
	})
}

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
		require.NoError(h, h.cache.WaitFor(within(h.T), h.srv.Zxid()))
		for range 2 {
			h.srv.ClearRequests()
			h.change(time.Second, func(int) { h.write("/r/hot0") })
			require.Less(h, h.cache.Stats().Lag, time.Second)
			require.NotZero(h, h.srv.CountRequests(zktest.OpMultiRead))
		}
		h.check(time.Minute)
		require.NotContains(h, h.log.String(), "zookeeper cache cannot read nodes together")
	}, framework.WithMaxRequestSize(1<<10))
}
