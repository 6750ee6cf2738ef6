package framework

import (
	"context"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// searches are a session's searches for protected nodes. All callers that
// search for a node below the same parent share one search. But no caller may
// get a list that is older than its question, so it never joins a search that
// has begun: all callers that come while one is under way share the next.
type searches struct {
	mu       sync.Mutex         // protects the following field
	byParent map[string]*search // the newest of a parent, as long as a goroutine searches there
}

// search is one search, under way or not begun yet.
type search struct {
	wanted bool
	done   chan struct{}

	// Set before done is closed.
	found map[string][]string
	err   error
}

// want returns a search that has not begun, and whether the caller must start
// the goroutine that makes it.
func (l *searches) want(parent string) (next *search, start bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next = l.byParent[parent]
	if next == nil {
		if l.byParent == nil {
			l.byParent = map[string]*search{}
		}
		next, start = &search{done: make(chan struct{})}, true
		l.byParent[parent] = next
	}
	next.wanted = true
	return next, start
}

// begin returns the search to make now, which no caller joins any more. It
// returns nil if no caller wants one.
func (l *searches) begin(parent string) *search {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.byParent[parent]
	if !now.wanted {
		delete(l.byParent, parent)
		return nil
	}
	l.byParent[parent] = &search{done: make(chan struct{})}
	return now
}

// protectedBelow returns the protected nodes below a parent, by their prefixes,
// as they are after this call has begun. Thousands of callers cost a few
// requests.
func (s *Session) protectedBelow(ctx context.Context, parent string) (map[string][]string, error) {
	l, start := s.search.want(parent)
	if start { // a closed client starts nothing, but then its sessions have ended, too
		s.client.spawn(func(ctx context.Context) { s.makeSearches(ctx, parent) })
	}
	select {
	case <-l.done:
		return l.found, l.err
	case <-s.ctx.Done():
		return nil, s.sessionError(zk.ErrConnectionClosed)
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
}

// makeSearches makes the searches of a parent, one after the other, as long as
// a caller wants one. The transaction before each of them makes the server know
// of all writes that earlier connections of the session have sent. Curator
// searches without one.
func (s *Session) makeSearches(ctx context.Context, parent string) {
	for l := s.search.begin(parent); l != nil; l = s.search.begin(parent) {
		siblings, err := afterQuorum(ctx, s, proto.Children(parent, false))
		l.found, l.err = protectedNames(siblings.Names), err
		close(l.done)
	}
}
