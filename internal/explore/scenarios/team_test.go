package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// team is the goroutines of a client at one read/write lock.
type team struct {
	lib *library
	all *attendance
	age time.Duration // a listing shows a queue that is so old at most

	actor *explore.Actor // nil until it plays

	mu      sync.Mutex
	writers []bool // in the order in which they have come: is it there, and not done?
	reasons []error
	since   time.Time // when some have waited in the process for nobody; zero if they do not
}

// check sees that the team has a node as long as one of it wants the lock: they take
// turns with it.
func (tm *team) check(tree explore.Tree) error {
	const bound = 2 * time.Second
	all := tm.all.size()
	tm.mu.Lock()
	defer tm.mu.Unlock()
	writers, nodes := 0, 0
	for _, waits := range tm.writers {
		if waits {
			writers++
		}
	}
	for _, n := range below(tree, "/lock") {
		if tm.actor != nil && n.Stat.EphemeralOwner == tm.actor.Client().SessionID() {
			nodes++
		}
	}
	switch {
	case tm.actor == nil || all == 0 || nodes > 0 || tm.actor.Disturbed():
		tm.since = time.Time{}
	case tm.since.IsZero():
		tm.since = time.Now()
	case min(time.Since(tm.since), tm.lib.world.Quiet()) > bound:
		return fmt.Errorf("%d want the lock, of whom %d are writers, and there are %d nodes", all, writers, nodes)
	}
	return nil
}

// newTeam has a writer of another client, and behind that a team of which each
// letter is a reader or a writer. Those with a large letter come some time later,
// and have so much patience. The team begins with a trouble. Each write takes as long
// as the leader lags, and a client first deletes, one after the other, the nodes that
// its lost sessions may have left.
func newTeam(kinds string, patience time.Duration, own trouble, lag time.Duration) explore.Scenario {
	return func(w *explore.World) {
		tm := &team{lib: newLibrary(w, 4), all: watchAttendance(w, "/lock"), age: time.Second + 2*lag}
		tm.all.bound += 10 * lag
		w.Actor("B", tm.lib.writer)
		w.Always(tm.check)
		w.Actor("A", func(a *explore.Actor) {
			tm.actor = a
			time.Sleep(100 * time.Millisecond)
			own(a)
			lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock")
			var all sync.WaitGroup
			for _, kind := range kinds {
				a.Pause("brings another")
				waits := time.Hour
				if unicode.IsUpper(kind) {
					time.Sleep(400 * time.Millisecond)
					waits = patience
				}
				if unicode.ToLower(kind) == 'w' {
					all.Go(func() { tm.writes(a, lock.WriteLock(), waits) })
				} else {
					all.Go(func() { tm.reads(a, lock.ReadLock(), waits) })
				}
			}
			all.Wait()
		})
	}
}

func (tm *team) writes(a *explore.Actor, lock locks.Locker, patience time.Duration) {
	tm.mu.Lock()
	me := len(tm.writers)
	tm.writers = append(tm.writers, true)
	tm.mu.Unlock()
	done := func() {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		tm.writers[me] = false
	}
	lease := tm.takes(a, "write", lock, patience)
	if lease == nil {
		done()
		return
	}
	tm.lib.write(a, lease)
	done()
	tm.all.give(a, lease)
}

func (tm *team) reads(a *explore.Actor, lock locks.Locker, patience time.Duration) {
	tm.mu.Lock()
	ahead := len(tm.writers)
	tm.mu.Unlock()
	lease := tm.takes(a, "read", lock, patience)
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

// takes sees that nobody fails for the reason of another one, or is behind more
// than there are.
func (tm *team) takes(a *explore.Actor, what string, lock locks.Locker, patience time.Duration) *locks.Lease {
	w := tm.lib.world
	return tm.all.take(a, what, func(call context.Context) (*locks.Lease, error) {
		mine := tm.newReason()
		ctx, cancel := context.WithTimeoutCause(call, patience, mine)
		defer cancel()
		lease, err := lock.Acquire(ctx)
		var behind *locks.NotAcquiredError
		switch {
		case err == nil || isEnd(a, err) || reason.Is(err, framework.ErrSessionLost):
		case ctx.Err() == nil:
			w.Fail("%s: %s fails though its caller waits: %v", a.Name(), what, err)
		case tm.isOfAnother(mine, err):
			w.Fail("%s: %s fails as another one does: %v", a.Name(), what, err)
		case errors.As(err, &behind) && behind.Ahead >= tm.all.mostSince(behind.Seen.Add(-tm.age)):
			w.Fail("%s: %s was never behind %d others", a.Name(), what, behind.Ahead)
		}
		return lease, err
	})
}

// newReason returns the reason of one that will have waited for long enough.
func (tm *team) newReason() error {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	mine := fmt.Errorf("number %d of the team has waited for long enough", len(tm.reasons))
	tm.reasons = append(tm.reasons, mine)
	return mine
}

// isOfAnother reports whether an error has the reason of another one.
func (tm *team) isOfAnother(mine, err error) bool {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return slices.ContainsFunc(tm.reasons, func(of error) bool { return of != mine && errors.Is(err, of) })
}

func TestTeamOfReadersAndWriter(t *testing.T) {
	explore.Search(t, newTeam("rwrr", 0, none, 0), quick())
}

// A reader's node may be made twice, as the leader does not know of the first.
func TestTeamWhoseLeaderLags(t *testing.T) {
	lost := meets(zktest.OpCreate, zktest.DropReply())
	explore.Search(t, inEnsemble(newTeam("rrr", 0, lost, time.Second), time.Second), quick())
}
