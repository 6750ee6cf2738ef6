package scenarios

import (
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// sharers are two goroutines of a client that read by the same node, each twice. The
// second writes in between if it is to.
func (l *library) sharers(writes bool) func(a *explore.Actor) {
	return func(a *explore.Actor) {
		lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock", locks.WithReleasePolicy(locks.ReleasePolicy{
			MaxReuses: 3, Idle: 3 * time.Second,
		}))
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				for turn := range 2 {
					if lease, _ := take(l.world, a, "read", lock.ReadLock().Acquire); lease != nil {
						l.read(a, lease)
						give(l.world, a, lease)
					}
					if !writes || i == 0 || turn > 0 {
						continue
					}
					if lease, _ := take(l.world, a, "write", lock.WriteLock().Acquire); lease != nil {
						l.write(a, lease)
						give(l.world, a, lease)
					}
				}
			})
		}
		all.Wait()
		time.Sleep(10 * time.Second)
	}
}

func sharedReads(own trouble, writes bool) explore.Scenario {
	return startsWith(own, func(w *explore.World) {
		l := newLibrary(w, 2)
		w.AtEnd(nothingBelow("/lock"))
		w.Actor("A", l.sharers(writes))
		w.Actor("B", func(a *explore.Actor) {
			time.Sleep(1500 * time.Millisecond)
			l.writer(a)
		})
	})
}

// Readers of a client share a node, and a writer of another client comes.
func TestReadersThatShareANode(t *testing.T) {
	explore.Search(t, sharedReads(none, false), quick())
}

// A goroutine of theirs writes, too.
func TestReadersThatShareANodeAndWrite(t *testing.T) {
	explore.Search(t, sharedReads(none, true), quick())
}

// They lose their session, or may have lost it.
func TestReadersThatShareANodeAndLoseTheirSession(t *testing.T) {
	for name, own := range map[string]trouble{"expired": expired, "given up": givenUp, "cut": cut} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, sharedReads(own, false), quick())
		})
	}
}
