package lockloop

import "time"

// news is what a crowd knows of the queue without another look: a node that all
// who come now are behind.
type news struct {
	of     *blocker
	entry  Entry // the entry of the blocker's node
	seen   NotAdmitted
	length int // the queue's length
	later  int // contenders that have come since, and wait
}

// newsLasts is for how long those who come wait without a look of their own. So
// their errors name a holder that was there so long before they came, or later.
const newsLasts = time.Second

func (n *news) isFresh() bool {
	return n != nil && n.of.waiting > 0 && !n.of.hasEnded() && time.Since(n.seen.Seen) < newsLasts
}

// tell notes how a contender that waits for a blocker stands.
func (w *Crowd) tell(b *blocker, entry Entry, seen NotAdmitted, length int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news.isFresh() && !seen.Seen.After(w.news.seen.Seen) {
		return
	}
	w.news = &news{of: b, entry: entry, seen: seen, length: length}
}

// Forget drops the news if it says that a node of ours has the lock that was
// given up: the next who comes looks for itself.
func (w *Crowd) Forget(holder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news != nil && w.news.seen.Holder == holder {
		w.news = nil
	}
}

// follow lets a contender that has just come wait for the node in the news. The
// blocker is nil if there is no news, or if that node does not block it.
// Otherwise the contender must call stop.
func (w *Crowd) follow(ours Entry, blocks Blocks) (b *blocker, seen NotAdmitted, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.news
	if !n.isFresh() || ours.overflowed() || compare(n.entry, ours) > 0 || !blocks(ours.Kind, n.entry.Kind) {
		return nil, NotAdmitted{}, nil
	}
	seen = n.seen
	seen.Ahead = n.length + n.later
	n.of.waiting++
	n.later++
	return n.of, seen, func() {
		w.mu.Lock()
		n.later--
		w.mu.Unlock()
		w.leave(n.of)
	}
}
