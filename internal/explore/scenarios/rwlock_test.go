package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// library is what a read/write lock protects. It has room for that many readers,
// and a writer takes all of it.
type library struct {
	world   *explore.World
	readers int
	all     *explore.Section // of readers and writers
	writing *explore.Section
	written int64 // the largest token that a writer has shown
}

func newLibrary(w *explore.World, readers int) *library {
	w.Node("/lock", "")
	return &library{w, readers, w.Section("the library", readers), w.Section("writing", 1), 0}
}

// write works for a while under the write lock.
func (l *library) write(a *explore.Actor, lease *locks.Lease) {
	defer l.writing.Enter(a, lease.Context(), lease.FencingToken())()
	for range l.readers {
		defer l.all.Enter(a, lease.Context(), 0)()
	}
	if lease.Context().Err() == nil {
		l.written = lease.FencingToken()
	}
	pass(lease.Context(), 3*time.Second)
	checkLoss(l.world, a, lease)
}

// read works for a while under the read lock. A reader compares its token with
// those of writers. One that was a writer before has the same token.
func (l *library) read(a *explore.Actor, lease *locks.Lease) {
	defer l.all.Enter(a, lease.Context(), 0)()
	unwarned := a.HasExpired(a.Client().SessionID()) // it may be late, as its lease is
	if !unwarned && lease.Context().Err() == nil && lease.FencingToken() < l.written {
		l.world.Fail("%s reads with token %d after a writer with %d", a.Name(), lease.FencingToken(), l.written)
	}
	pass(lease.Context(), 3*time.Second)
	checkLoss(l.world, a, lease)
}

func (l *library) reader(a *explore.Actor) {
	lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock")
	if lease, _ := take(l.world, a, "read", lock.ReadLock().Acquire); lease != nil {
		l.read(a, lease)
		give(l.world, a, lease)
	}
}

func (l *library) writer(a *explore.Actor) {
	lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock")
	if lease, _ := take(l.world, a, "write", lock.WriteLock().Acquire); lease != nil {
		l.write(a, lease)
		give(l.world, a, lease)
	}
}

// Two readers are there at once, and a writer alone.
func TestReadersAndWriter(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		l := newLibrary(w, 2)
		w.Actor("A", l.reader)
		w.Actor("B", l.writer)
		w.Actor("C", l.reader)
	}, quick())
}

// A reader comes between two writers.
func TestWritersAndReader(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		l := newLibrary(w, 1)
		w.Actor("A", l.writer)
		w.Actor("B", l.reader)
		w.Actor("C", l.writer)
	}, quick())
}
