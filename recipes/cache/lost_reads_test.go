package cache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A connection ends by accident with its first multiRead. The servers have
// answered many before. The cache goes on reading hot nodes together.
func TestCacheTakesStepsBehindALostMultiRead(t *testing.T) {
	onHotTree(t, "", func(h *hotTree, roundTrip time.Duration) {
		h.change(500*time.Millisecond, func(int) { h.write("/r/hot0") })
		h.srv.CutAll()
		h.srv.Inject(zktest.Rule{Op: zktest.OpMultiRead, Do: zktest.DropReply()})
		h.change(5*time.Second, func(int) { h.write("/r/hot0") })
		h.srv.CutAll() // another server, another connection
		h.change(5*time.Second, func(int) { h.write("/r/hot0") })
		require.Less(h, h.cache.Stats().Lag, time.Second)
	})
}
