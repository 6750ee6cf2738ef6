package seat

import (
	"slices"
	"sync"
)

// laneKey identifies the lane that goroutines share. Objects share one if their
// nodes would be the same, in views of the client with one namespace.
type laneKey struct {
	Key
	dir       string // the lock's path in that namespace
	data      string
	exactData bool
	anonymous bool
	revocable bool
}

func laneKeyOf(l *Lock) laneKey {
	key := laneKey{
		Key: l.Key(), dir: l.cfg.Path, data: string(l.cfg.Data), exactData: l.cfg.ExactData,
		anonymous: l.cfg.Anonymous, revocable: l.cfg.Revocable,
	}
	key.kind = l.cfg.Kinds[0] // the same for both sides of a read/write lock
	return key
}

// lanes are the lanes of all clients of this process. A lane exists while a goroutine
// holds or acquires the lock, or keeps it for the next one.
var lanes laneSet

// laneSet finds lanes by their keys. Its mutex may be locked while a lane's is.
type laneSet struct {
	mu    sync.Mutex    // protects the following field, and the links between lanes
	byKey map[Key]*lane // the first lane of each lock, to which the others are linked; remove removes one that is over
}

// arrive puts a waiter into its lane, and makes that if need be.
func (s *laneSet) arrive(key laneKey, w *waiter) (q *lane, ahead int) {
	for {
		q = s.find(key)
		q.mu.Lock()
		if !q.over {
			ahead = q.addLocked(w)
			q.mu.Unlock()
			return q, ahead
		}
		q.mu.Unlock()
		s.remove(q) // the goroutine that has ended it is going to do that, and may be slow
	}
}

func (s *laneSet) find(key laneKey) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.lookUpLocked(key); q != nil {
		return q
	}
	if s.byKey == nil {
		s.byKey = map[Key]*lane{}
	}
	q := &lane{in: s, key: key, next: s.byKey[key.Key]}
	s.byKey[key.Key] = q
	return q
}

// lookUp is find for a lane that is in use, or was: it makes none.
func (s *laneSet) lookUp(key laneKey) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookUpLocked(key)
}

func (s *laneSet) lookUpLocked(key laneKey) *lane {
	for q := s.byKey[key.Key]; q != nil; q = q.next {
		if q.key == key {
			return q
		}
	}
	return nil
}

// beside returns the other lanes of a lock: those of objects whose nodes differ.
func (s *laneSet) beside(q *lane) (others []*lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := s.byKey[q.key.Key]; other != nil; other = other.next {
		if other != q {
			others = append(others, other)
		}
	}
	return others
}

// remove removes a lane that is over, unless it was removed before.
func (s *laneSet) remove(q *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.byKey[q.key.Key]
	for at := &first; *at != nil; at = &(*at).next {
		if *at == q {
			*at = q.next
			break
		}
	}
	if first == nil {
		delete(s.byKey, q.key.Key)
	} else {
		s.byKey[q.key.Key] = first
	}
}

// line are goroutines that wait, in the order of their arrival. They may leave from any
// position. To find one takes as long as to look at thousands of pointers, which is little:
// thousands may leave at once.
type line []*waiter

// remove takes a waiter out, if it is in the line.
func (l *line) remove(w *waiter) {
	if at := l.before(w); at >= 0 {
		*l = slices.Delete(*l, at, at+1)
	}
	if len(*l) == 0 {
		*l = nil
	}
}

// first returns the waiter that came first, or nil.
func (l line) first() *waiter {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// before returns how many are ahead of a waiter; -1 if it is not in the line.
func (l line) before(w *waiter) int { return slices.Index(l, w) }

// hasWriter reports whether one of them wants the lock alone.
func (l line) hasWriter() bool {
	return slices.ContainsFunc(l, func(w *waiter) bool { return !w.isShared() })
}
