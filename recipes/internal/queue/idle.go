package queue

import (
	"context"
	"sync"

	"github.com/gocurator/curator/framework"
)

// maxIdle is how many idle locks a client keeps. Each costs the server a node and
// two watches, and this process some kilobytes.
const maxIdle = 1000

// idleTurns are the turns of the idle locks of all clients of this process.
var idleTurns idleSets

// idleSets has the idle turns of each client until that is closed.
type idleSets struct {
	mu       sync.Mutex // protects the following field
	byClient map[framework.Extension]*idleSet
}

// idleSet is a list of idle turns, the longest idle first. Its mutex may be locked
// while a queue's is.
type idleSet struct {
	mu   sync.Mutex // protects the following fields, and the links of each turn
	head idleTurn   // the list is a circle, and this is no turn
	n    int        // how many there are
}

// idleTurn is what a turn needs when it is idle. It stays when somebody takes the
// lock, because that one is likely to make it idle again soon.
type idleTurn struct {
	turn       *turn
	waiter     localWaiter // for all who come for the turn; it does not change
	prev, next *idleTurn   // nil while it is not in the list
}

func newIdleSet() *idleSet {
	s := &idleSet{}
	s.head.prev, s.head.next = &s.head, &s.head
	return s
}

// of returns the idle turns of a client.
func (s *idleSets) of(client framework.Extension) *idleSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.byClient[client]
	if set == nil {
		if s.byClient == nil {
			s.byClient = map[framework.Extension]*idleSet{}
		}
		set = newIdleSet()
		s.byClient[client] = set
		context.AfterFunc(client.Context(), func() { s.forget(client) })
	}
	return set
}

func (s *idleSets) forget(client framework.Extension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byClient, client)
}

// add adds a turn. If there are too many now, it takes out the one that has been
// idle for the longest time, and returns it.
func (s *idleSet) add(t *turn) (evicted *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.asIdle == nil {
		t.asIdle = &idleTurn{turn: t, waiter: localWaiter{idle: t}}
	}
	s.appendLocked(t.asIdle)
	if s.n > maxIdle {
		evicted = s.head.next.turn
		s.removeLocked(evicted.asIdle)
	}
	return evicted
}

// remove takes a turn out, unless add has done so.
func (s *idleSet) remove(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.asIdle.next != nil {
		s.removeLocked(t.asIdle)
	}
}

func (s *idleSet) appendLocked(i *idleTurn) {
	last := s.head.prev
	i.prev, i.next = last, &s.head
	last.next, s.head.prev = i, i
	s.n++
}

func (s *idleSet) removeLocked(i *idleTurn) {
	i.prev.next, i.next.prev = i.next, i.prev
	i.prev, i.next = nil, nil
	s.n--
}
