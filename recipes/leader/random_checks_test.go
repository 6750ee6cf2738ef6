package leader_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// leadership is what a candidate knows of a time in which it leads, or believes
// to lead.
type leadership struct {
	who     string
	lease   *locks.Lease
	session int64 // of its node
	working bool  // its work has not stopped, and others must wait for that
}

// begin notes that a candidate leads, and checks what must be true then.
func (e *election) begin(who string, lease *locks.Lease) *leadership {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := &leadership{who: who, lease: lease, working: e.awaits}
	if node, found := e.newest().Node(lease.Path()); found {
		l.session = node.Stat.EphemeralOwner
	}
	if lease.Context().Err() == nil { // otherwise others may lead by now
		e.checkOrderLocked(l)
	}
	e.leaderships = append(e.leaderships, l)
	context.AfterFunc(lease.Context(), func() { e.ended(l) })
	return l
}

func (e *election) checkOrderLocked(l *leadership) {
	for _, before := range e.leaderships {
		e.checkOverLocked(before, l)
	}
	if len(e.leaderships) > 0 {
		e.checkTokenLocked(e.leaderships[len(e.leaderships)-1], l)
	}
}

func (e *election) checkOverLocked(before, l *leadership) {
	path := before.lease.Path()
	if e.mayBeDeleted(before) || e.mayBeDeleted(l) {
		return
	}
	// The order of the two calls matters. If the new leader is alive in the
	// second, the earlier one was alive beside it in the first.
	if before.lease.Context().Err() == nil && l.lease.Context().Err() == nil {
		e.Errorf("%v: %s leads with %s, and %s still with %s", time.Now(), l.who, l.lease.Path(), before.who, path)
	}
	alive := func(s zktest.SessionInfo) bool { return s.ID == before.session }
	if before.working && slices.ContainsFunc(e.newest().Sessions(), alive) {
		e.Errorf("%v: %s leads with %s, and the work of %s goes on", time.Now(), l.who, l.lease.Path(), before.who)
	}
}

func (e *election) mayBeDeleted(l *leadership) bool {
	return e.deletions.MayHave(l.lease.FencingToken())
}

func (e *election) checkTokenLocked(before, l *leadership) {
	sameNode := before.lease.Path() == l.lease.Path() && e.policy == state.StandardPolicy
	if was, is := before.lease.FencingToken(), l.lease.FencingToken(); is < was && !e.mayBeDeleted(l) || is == was && !sameNode {
		e.Errorf("%v: token %d of %s follows %d of %s", time.Now(), is, l.lease.Path(), was, before.lease.Path())
	}
}

// ended checks that a leader whose node is gone has learned that.
func (e *election) ended(l *leadership) {
	at, deleted := e.deletions.At(l.lease.FencingToken())
	if deleted && time.Since(at) > e.noticeBound(l, at) {
		e.Errorf("%v: %s has heard only now that its node %s was deleted at %v", time.Now(), l.who, l.lease.Path(), at)
	}
}

// noticeBound returns the time within which a leader learns of the deletion of its node
// at the given time. The bound has the time of a session for each outage of the
// leader's connection, because the handshake after an outage renews the session, and
// the next outage may begin before the client receives the events of its watches.
func (e *election) noticeBound(l *leadership, deleted time.Time) time.Duration {
	limit := electionSession
	for at, what := range zkinside.Of(e.servers[0]).Events {
		ofOther := l.session != 0 && strings.Contains(what, "0x") &&
			!strings.Contains(what, fmt.Sprintf("%#x", l.session))
		if !ofOther && at.After(deleted.Add(-electionSession)) {
			limit += electionSession
		}
	}
	return limit
}

// lost notes that a leader has lost its session, and that its work has only
// just been told to stop.
func (e *election) lost(l *leadership) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.working = true
}

// finish notes that a leader's work has returned.
func (e *election) finish(l *leadership) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.working = false
}
