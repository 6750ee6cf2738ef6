package queue

import "sync"

// localKey identifies the queue that goroutines share.
type localKey struct {
	Key

	// object is nil if all objects of the lock share the queue. An object that
	// hands the lock over has a queue of its own, because it passes on its
	// node, which depends on its options.
	object *Queue

	// node is zero unless the lock is cached. All objects whose nodes would be
	// the same share that queue.
	node cachedNode
}

// localKeyOf returns the key of the queue in which a lock's goroutines wait.
func localKeyOf(q *Queue) *localKey {
	key := &localKey{Key: q.Key()}
	key.kind = q.cfg.Kinds[0] // the same for both sides of a read/write lock
	switch {
	case q.cfg.HandOvers > 0:
		key.object = q
	case q.cfg.CachedUses > 0:
		key.node = cachedNodeOf(&q.cfg)
	}
	return key
}

// places returns how many of those that want the lock alone have a place at the
// server: the holder and the next one. If goroutines pass the lock on among
// themselves, the next one needs no node.
func (k localKey) places() int {
	if k.object != nil || k.node != (cachedNode{}) && !k.joins() {
		return 1
	}
	return 2
}

// localQueues are the queues of all clients of this process. A queue exists
// while a goroutine holds or acquires the lock.
var localQueues queueSet

// queueSet finds queues by their keys. No goroutine holds its mutex and a
// queue's at once.
type queueSet struct {
	mu    sync.Mutex          // protects the following field, and the links between queues
	byKey map[Key]*localQueue // the first queue of each lock; the others are linked to it
}

// arrive finds the queue, or makes one. It takes a place at the server, or adds
// a waiter with ahead waiters before it.
func (s *queueSet) arrive(key *localKey, a arrival) (q *localQueue, w *localWaiter, ahead int) {
	for {
		q = s.find(key)
		if w, ahead, ok := q.add(a); ok {
			return q, w, ahead
		}
		s.remove(q) // the goroutine that has ended it is going to do that, and may be slow
	}
}

func (s *queueSet) find(key *localKey) *localQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.lookUpLocked(*key); q != nil {
		return q
	}
	if s.byKey == nil {
		s.byKey = map[Key]*localQueue{}
	}
	q := newLocalQueue(s, key)
	q.next = s.byKey[key.Key]
	s.byKey[key.Key] = q
	return q
}

// lookUp is find for a queue that is in use, or was: it makes none.
func (s *queueSet) lookUp(key localKey) *localQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookUpLocked(key)
}

func (s *queueSet) lookUpLocked(key localKey) *localQueue {
	for q := s.byKey[key.Key]; q != nil; q = q.next {
		if *q.key == key {
			return q
		}
	}
	return nil
}

// others returns the other queues of the same lock: objects whose options differ may
// have a queue each.
func (s *queueSet) others(q *localQueue) (others []*localQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := s.byKey[q.key.Key]; other != nil; other = other.next {
		if other != q {
			others = append(others, other)
		}
	}
	return others
}

// remove removes a queue that is over, unless it was removed before.
func (s *queueSet) remove(q *localQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.byKey[q.key.Key]
	if first == q {
		first = q.next
	}
	for p := first; p != nil; p = p.next {
		if p.next == q {
			p.next = q.next
		}
	}
	if first == nil {
		delete(s.byKey, q.key.Key)
	} else {
		s.byKey[q.key.Key] = first
	}
}
