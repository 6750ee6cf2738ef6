package scenarios

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// team is the goroutines of a client at one read/write lock.
type team struct {
	lib *library
	all *attendance

	mu      sync.Mutex
	writers []bool // in the order in which they have come: is it there, and not done?
}

// newTeam has a writer of another client, and behind that a team of which each
// letter is a reader or a writer. The team begins with a trouble.
func newTeam(kinds string, own trouble) explore.Scenario {
	return func(w *explore.World) {
		tm := &team{lib: newLibrary(w, 4), all: watchAttendance(w, "/lock")}
		w.Actor("B", tm.lib.writer)
		w.Actor("A", func(a *explore.Actor) {
			time.Sleep(100 * time.Millisecond)
			own(a)
			lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock")
			var all sync.WaitGroup
			for _, kind := range kinds {
				a.Pause("brings another")
				if kind == 'w' {
					all.Go(func() { tm.writes(a, lock.WriteLock()) })
				} else {
					all.Go(func() { tm.reads(a, lock.ReadLock()) })
				}
			}
			all.Wait()
		})
	}
}

func (tm *team) writes(a *explore.Actor, lock locks.Locker) {
	tm.mu.Lock()
	me := len(tm.writers)
	tm.writers = append(tm.writers, true)
	tm.mu.Unlock()
	done := func() {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		tm.writers[me] = false
	}
	lease := tm.takes(a, "write", lock)
	if lease == nil {
		done()
		return
	}
	tm.lib.write(a, lease)
	done()
	tm.all.give(a, lease)
}

func (tm *team) reads(a *explore.Actor, lock locks.Locker) {
	tm.mu.Lock()
	ahead := len(tm.writers)
	tm.mu.Unlock()
	lease := tm.takes(a, "read", lock)
	if lease == nil {
		return
	}
	tm.mu.Lock()
	for _, waits := range tm.writers[:ahead] {
		if waits && !a.Disturbed() { // else each may have got another node
			tm.lib.world.Fail("a reader has overtaken a writer that came before it")
		}
	}
	tm.mu.Unlock()
	tm.lib.read(a, lease)
	tm.all.give(a, lease)
}

// takes sees that nobody fails for the reason of another one.
func (tm *team) takes(a *explore.Actor, what string, lock locks.Locker) *locks.Lease {
	return tm.all.take(a, what, func(ctx context.Context) (*locks.Lease, error) {
		lease, err := lock.Acquire(ctx)
		if err != nil && ctx.Err() == nil && !isEnd(a, err) && !reason.Is(err, framework.ErrSessionLost) {
			tm.lib.world.Fail("%s: %s fails though its caller waits: %v", a.Name(), what, err)
		}
		return lease, err
	})
}

func TestTeamOfReadersAndWriter(t *testing.T) {
	explore.Search(t, newTeam("rwrr", none), quick())
}

func TestTeamOfReaders(t *testing.T) { explore.Search(t, newTeam("rrr", none), quick()) }

// A reader's node may be made twice, as the leader does not know of the first.
func TestTeamWhoseLeaderLags(t *testing.T) {
	lost := meets(zktest.OpCreate, zktest.DropReply())
	explore.Search(t, inEnsemble(newTeam("rrr", lost), time.Second), quick())
}
