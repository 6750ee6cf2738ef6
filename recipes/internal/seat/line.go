package seat

import "slices"

// line is a queue that waiters may leave from any position. To find one takes as long
// as to look at thousands of pointers, which is little: thousands may leave at once.
type line struct {
	waiting []*waiter // in the order of arrival
	alone   int       // how many of them want the lock alone
}

func (l *line) len() int { return len(l.waiting) }

// add puts a waiter at the end.
func (l *line) add(w *waiter) { l.insert(len(l.waiting), w) }

// addFirst puts a waiter in front of all others.
func (l *line) addFirst(w *waiter) { l.insert(0, w) }

func (l *line) insert(at int, w *waiter) {
	l.waiting = slices.Insert(l.waiting, at, w)
	if !w.isShared() {
		l.alone++
	}
}

// remove takes a waiter out, if it is in the line.
func (l *line) remove(w *waiter) {
	at := l.before(w)
	if at < 0 {
		return
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	if !w.isShared() {
		l.alone--
	}
	if len(l.waiting) == 0 {
		l.waiting = nil
	}
}

// first returns the waiter that came first, or nil.
func (l *line) first() *waiter {
	if len(l.waiting) == 0 {
		return nil
	}
	return l.waiting[0]
}

// before returns how many are ahead of a waiter; -1 if it is not in the line.
func (l *line) before(w *waiter) int { return slices.Index(l.waiting, w) }
