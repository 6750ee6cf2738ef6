package scenarios

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// The goroutines of a client hold a lock one after the other, each by another node. The
// next goroutine takes the lock when the release is answered.
func TestMutexOfGoroutines(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"undisturbed", none},
		{"a release whose reply is lost", meets(zktest.OpDelete, zktest.DropReply())},
		{"a release whose request is lost", meets(zktest.OpDelete, zktest.DropRequest())},
		{"a release in another session", late(zktest.OpDelete)},
		{"a release that nothing is heard of", unheard(zktest.OpDelete)},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				r := newRelay(w)
				w.Actor("A", func(a *explore.Actor) {
					c.own(a)
					r.goroutines(3)(a)
				})
				w.Actor("B", r.goroutines(1))
			}, brief())
		})
	}
}

// As TestNextInLineWhoseNodeIsDeleted, with both on one client.
func TestNextInLineOfOneClientWhoseNodeIsDeleted(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after trouble
	}{{"in peace", none, none}, {"before a cut", none, cut}, {"during a cut", cut, none}} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				q := newQueueOfTwo(w)
				w.Actor("A", func(a *explore.Actor) {
					var both sync.WaitGroup
					both.Go(func() { q.holder(a) })
					both.Go(func() { q.next(a) })
					both.Wait()
				})
				w.Actor("C", func(a *explore.Actor) { q.operator(a, c.before, c.after) })
			}, brief())
		})
	}
}
