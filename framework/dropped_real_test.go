//go:build real

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
