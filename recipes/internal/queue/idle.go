package queue

import (
	"container/list"
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
	mu    sync.Mutex // protects the following field
	turns list.List
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
		set = &idleSet{}
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
	t.inIdle = s.turns.PushBack(t)
	if s.turns.Len() > maxIdle {
		evicted = s.turns.Front().Value.(*turn)
		s.removeLocked(evicted)
	}
	return evicted
}

// remove takes a turn out, unless add has done so.
func (s *idleSet) remove(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.inIdle != nil {
		s.removeLocked(t)
	}
}

func (s *idleSet) removeLocked(t *turn) {
	s.turns.Remove(t.inIdle)
	t.inIdle = nil
}
