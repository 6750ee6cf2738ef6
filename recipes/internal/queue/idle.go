package queue

import (
	"container/list"
	"sync"

	"github.com/gocurator/curator/framework"
)

// maxIdle is how many idle locks a client keeps. Each costs the server a node and
// two watches, and this process some kilobytes.
const maxIdle = 1000

// idleTurns are the turns of the idle locks of all clients of this process. Its
// mutex may be locked while a queue's is.
var idleTurns idleSet

// idleSet has a list of idle turns for each client, the longest idle first.
type idleSet struct {
	mu       sync.Mutex // protects the following field
	byClient map[framework.Extension]*list.List
}

// add adds a turn. If there are too many now, it takes out the one that has been
// idle for the longest time, and returns it.
func (s *idleSet) add(t *turn) (evicted *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := t.queue.key.client
	all := s.byClient[client]
	if all == nil {
		if s.byClient == nil {
			s.byClient = map[framework.Extension]*list.List{}
		}
		all = list.New()
		s.byClient[client] = all
	}
	t.inIdle = all.PushBack(t)
	if all.Len() > maxIdle {
		evicted = all.Front().Value.(*turn)
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
	client := t.queue.key.client
	all := s.byClient[client]
	all.Remove(t.inIdle)
	t.inIdle = nil
	if all.Len() == 0 {
		delete(s.byClient, client)
	}
}
