package explore

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Section is a critical section with a limit of actors inside.
type Section struct {
	world *World
	name  string
	limit int

	mu     sync.Mutex
	inside []*visit
	last   int64 // the largest token of an actor that has entered
	lastBy *Actor
}

// visit is an actor in a section.
type visit struct {
	actor   *Actor
	ctx     context.Context
	expired int // how many sessions of the actor had expired when it entered
}

// Section adds a section with room for that many actors.
func (w *World) Section(name string, limit int) *Section {
	s := &Section{world: w, name: name, limit: limit}
	w.sections = append(w.sections, s)
	return s
}

// Enter notes that an actor begins to work under a lock whose lease has that context
// and that fencing token. An actor whose context has ended no longer counts as inside,
// because it was asked to stop. An actor does not count either if its client was
// closed, or if its session has expired without a warning, because no lock can stop the
// actor then. An actor may enter again with the same token, because a lock may be
// passed on within a client. Enter does not check a token of 0. It returns the function
// to call at the end of the work.
//
//nolint:revive // the lease's context
func (s *Section) Enter(a *Actor, lease context.Context, token int64) (leave func()) {
	v := &visit{a, lease, a.Expiries()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.isUnwarned() { // the actor enters after the expiry
		return func() {}
	}
	if token != 0 && s.limit == 1 && lease.Err() == nil {
		if token < s.last || token == s.last && a != s.lastBy {
			s.world.Fail("%s enters %s with token %d after token %d", a.name, s.name, token, s.last)
		}
		s.last, s.lastBy = max(s.last, token), a
	}
	s.inside = append(s.inside, v)
	s.checkLocked()
	return func() { s.leave(v) }
}

func (s *Section) leave(v *visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside = slices.DeleteFunc(s.inside, func(o *visit) bool { return o == v })
	if cause := context.Cause(v.ctx); cause != nil && !v.actor.Disturbed() {
		s.world.Fail("the lease of %s has ended in peace: %v", v.actor.name, cause)
	}
}

// check checks whether too many actors are inside now.

func (s *Section) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked()
}

func (s *Section) checkLocked() {
	var at []string
	for _, v := range s.inside {
		if v.ctx.Err() == nil && v.actor.Expiries() == v.expired && !v.actor.Closed() {
			at = append(at, v.actor.name)
		}
	}
	if len(at) > s.limit {
		s.world.Fail("%s are in %s at once", strings.Join(at, " and "), s.name)
	}
}
