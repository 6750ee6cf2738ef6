package cache_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
		change := func(d time.Duration) {
			for i := range int(d / (2 * time.Millisecond)) {
				for j := range 20 {
					h.write(fmt.Sprint("/r/", (20*i+j)%coldNodes))
				}
				time.Sleep(2 * time.Millisecond)
			}
		}
		change(time.Second)
		require.Less(h, h.cache.Stats().Lag, time.Second)
		h.srv.Inject(zktest.Rule{Op: zktest.OpMultiRead, Do: zktest.DropReply()})
		change(thorough.Size(4*time.Second, 2*time.Second))
		require.Less(h, h.cache.Stats().Lag, time.Second)
	})
}
