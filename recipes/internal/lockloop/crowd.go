package lockloop

import (
	"context"
	"sync"

	"github.com/gocurator/curator/internal/reason"
)

// Crowd is what contenders of one kind and one client share that queue for the
// same lock, such as readers. Each has a node of its own. But they look at the
// queue together: a listing serves all who need one when it is sent, and those
// that wait for the same node share its watch. Otherwise n of them would cost n
// listings of n names.
//
// No request has a goroutine or a context of its own: one of those who need it
// makes it. If that one gives up, the next makes it.
//
// The zero value is an empty crowd. A contender that looks alone has a nil
// Crowd.
type Crowd struct {
	mu       sync.Mutex // protects the following fields
	entering int        // contenders that are making their nodes
	length   int        // the queue's length, as one of us saw it last
	begun    int        // listings
	listing  *listing   // the one that is under way, or nil
	blockers map[string]*blocker
	news     *news         // the newest, or nil
	holder   *sharedHolder // the one that was asked for last, or nil
}

// maxNames is about how many names of nodes are read with the nodes of a crowd
// that are made at the same time.
const maxNames = 1000

// enter begins the creation of a node. It reports whether the creation should
// bring a listing along, which saves a round trip. It should not if others of
// the crowd make so many nodes now that they had better share a listing, or if
// there is news, so that the contender needs none.
func (w *Crowd) enter(mayFollow bool) (list bool) {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.entering
	w.entering++
	if mayFollow && w.news.isFresh() {
		return false
	}
	return n*max(n, w.length) < maxNames
}

func (w *Crowd) entered() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entering--
}

// noteLength notes how long the queue is.
func (w *Crowd) noteLength(n int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.length = n
}

// listing is a look at the queue for several contenders.
type listing struct {
	n    int           // its number among the crowd's listings
	done chan struct{} // closed when the following fields are set

	view     *view
	err      error
	complete bool // the contender that made the request has not given up
}

func (l *listing) isAbandoned() bool {
	select {
	case <-l.done:
		return !l.complete
	default:
		return false
	}
}

// look returns a view of the queue. The listing was sent after this call, or
// after the end of the watch on a node that the contender has waited for.
func (w *Crowd) look(ctx context.Context, since *blocker, list func() (*view, error)) (*view, error) {
	need := 0
	for {
		l, first := w.join(since, &need)
		if first {
			return w.list(ctx, l, list)
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, reason.OfContext(ctx)
		}
		if l.complete && l.n >= need {
			return l.view, l.err
		}
	}
}

// join returns the listing to wait for. It reports true if the caller must make
// it. A listing that is under way was sent too early for one who comes now.
func (w *Crowd) join(since *blocker, need *int) (l *listing, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since != nil && since.after != nil && !since.after.isAbandoned() {
		return since.after, false
	}
	if w.listing != nil {
		if *need == 0 {
			*need = w.begun + 1
		}
		return w.listing, false
	}
	w.begun++
	w.listing = &listing{n: w.begun, done: make(chan struct{})}
	if since != nil {
		since.after = w.listing
	}
	return w.listing, true
}

func (w *Crowd) list(ctx context.Context, l *listing, list func() (*view, error)) (*view, error) {
	defer func() { // the user's code may panic, such as a tracer
		w.mu.Lock()
		w.listing = nil
		w.mu.Unlock()
		close(l.done)
	}()
	l.view, l.err = list()
	l.complete = l.err == nil || ctx.Err() == nil
	return l.view, l.err
}
