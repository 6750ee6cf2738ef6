package framework_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// In a bubble, the call comes on a goroutine of the bubble.
func TestOnDropInVirtualTime(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		dropped := make(chan struct{}, 1) // which nobody outside may touch
		onDrop := framework.Extend(c).OnDrop()
		func() { runtime.AddCleanup(&struct{ _ [64]byte }{}, onDrop, func() { dropped <- struct{}{} }) }()
		for {
			runtime.GC()
			time.Sleep(time.Second)
			select {
			case <-dropped:
				return
			default:
			}
		}
	})
}
