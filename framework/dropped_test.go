package framework_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestOnDropCallsWhenNothingRefersToTheObject(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t) // in real time: the garbage collector is in no bubble
	c := newClient(t, srv)
	type object struct{ _ [64]byte }
	dropped, stopped := make(chan struct{}), make(chan struct{})
	kept := &object{}
	onDrop := framework.Extend(c).OnDrop()
	runtime.AddCleanup(kept, onDrop, func() { t.Error("it is in use") })
	func() {
		runtime.AddCleanup(&object{}, onDrop, func() { close(dropped) })
		runtime.AddCleanup(&object{}, onDrop, func() { close(stopped) }).Stop()
	}()
	for collected := false; !collected; { // which can take very long on a busy machine
		runtime.GC()
		select {
		case <-dropped:
			collected = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	select {
	case <-stopped:
		t.Error("it was taken back")
	default:
	}
	runtime.KeepAlive(kept)
}

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
