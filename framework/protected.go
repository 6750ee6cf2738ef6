package framework

import (
	"strings"
	"sync"

	"github.com/gocurator/curator/internal/znode"
)

// protectedPath is znode.Join of a parent and a protected name, as one string.
func protectedPath(parent, guid, name string) string {
	if parent == "/" {
		parent = ""
	}
	return parent + "/_c_" + guid + "-" + name
}

func protectedPrefix(guid string) string { return "_c_" + guid + "-" }

var protectedPrefixLength = len(protectedPrefix(znode.GUID()))

// protectedNames returns the names that have a protection prefix, by that
// prefix.
func protectedNames(names []string) map[string][]string {
	found := map[string][]string{}
	for _, name := range names {
		if len(name) >= protectedPrefixLength && strings.HasPrefix(name, "_c_") {
			prefix := name[:protectedPrefixLength]
			found[prefix] = append(found[prefix], name)
		}
	}
	return found
}

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
