package explore

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Section is what a lock protects: no more than a limit of actors may be in it.
type Section struct {
	world *World
	name  string
	limit int

	mu     sync.Mutex
	inside []*visit
	last   int64 // the largest token with which anybody has come
	lastBy *Actor
}

// visit is an actor in a section.
type visit struct {
	actor   *Actor
	ctx     context.Context
	expired int // how many sessions of the actor had expired when it came
}

// Section adds one with room for that many actors.
func (w *World) Section(name string, limit int) *Section {
	s := &Section{world: w, name: name, limit: limit}
	w.sections = append(w.sections, s)
	return s
}

// Enter notes that an actor goes to work under a lock whose lease has that
// context and that fencing token. An actor whose context has ended does not
// count as being inside: it has been told to stop. Nor does one whose session the
// search has made expire without a warning, as no lock can hold it back then, or
// whose client was closed. An actor may come again with the same token, as a lock
// may be passed on within a client. A token of 0 is not checked. It returns the
// function to call at the end of the work.
func (s *Section) Enter(a *Actor, lease context.Context, token int64) (leave func()) { //nolint:revive // it is the lease's context, and not the call's
	v := &visit{a, lease, a.Expiries()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.isUnwarned() { // it comes after that
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

// check looks whether too many are inside now.

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
