package seat

// line is a queue that waiters may leave from any position. It knows how many
// are ahead of each. The time of every call grows with the logarithm of the
// length, so that thousands of waiters can leave at once.
type line struct {
	spots []*waiter // sorted by arrival; nil for waiters that have left
	front int       // spots[:front] are empty
	n     int       // the length
	alone int       // how many of them want the lock alone

	// sums is a Fenwick tree over all spots up to the capacity: sums[i] is how
	// many waiters are in the spots from i&(i+1) up to i.
	sums []int32
}

const (
	notInLine    = -1 // the position of a waiter that has left
	shortestLine = 16 // spots
)

func (l *line) len() int { return l.n }

// add puts a waiter at the end.
func (l *line) add(w *waiter) {
	if len(l.spots) == len(l.sums) {
		l.closeUp()
	}
	w.at = len(l.spots)
	l.spots = append(l.spots, w)
	l.n++
	l.countAlone(w, 1)
	l.count(w.at, 1)
}

// addFirst puts a waiter in front of all others. It takes as long as the line is.
func (l *line) addFirst(w *waiter) {
	l.spots, l.front = append([]*waiter{w}, l.spots[l.front:]...), 0
	l.n++
	l.countAlone(w, 1)
	l.closeUp()
}

// remove takes a waiter out and returns how many were ahead of it.
func (l *line) remove(w *waiter) (ahead int) {
	ahead = l.before(w.at)
	l.count(w.at, -1)
	l.spots[w.at] = nil
	l.n--
	l.countAlone(w, -1)
	w.at = notInLine
	for l.front < len(l.spots) && l.spots[l.front] == nil {
		l.front++
	}
	if l.n == 0 {
		*l = line{}
	}
	return ahead
}

// first returns the waiter that came first, or nil.
func (l *line) first() *waiter {
	if l.n == 0 {
		return nil
	}
	return l.spots[l.front]
}

// closeUp moves the waiters to the beginning, and makes as many spots after
// them. It takes as many arrivals until the next call, so that each arrival
// pays for a few moves only.
func (l *line) closeUp() {
	spots := make([]*waiter, 0, max(2*l.n, shortestLine))
	for _, w := range l.spots[l.front:] {
		if w != nil {
			w.at = len(spots)
			spots = append(spots, w)
		}
	}
	l.spots, l.front, l.sums = spots, 0, make([]int32, cap(spots))
	for i := range l.sums {
		if i < len(spots) {
			l.sums[i]++
		}
		if next := i | (i + 1); next < len(l.sums) {
			l.sums[next] += l.sums[i]
		}
	}
}

func (l *line) countAlone(w *waiter, n int) {
	if !w.isShared() {
		l.alone += n
	}
}

// count adds n to the number of waiters in a spot.
func (l *line) count(spot int, n int32) {
	for i := spot; i < len(l.sums); i |= i + 1 {
		l.sums[i] += n
	}
}

// before returns how many waiters are in the spots before this one.
func (l *line) before(spot int) (n int) {
	for i := spot - 1; i >= 0; i = i&(i+1) - 1 {
		n += int(l.sums[i])
	}
	return n
}
