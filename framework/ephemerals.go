package framework

import (
	"sync"
)

// ephemerals is the set of a session's ephemeral nodes, as far as this client
// has made them and has not deleted them. Others may have deleted some, and
// nobody tells the client. So it looks which of them are there before it says,
// or does, anything about their number.
//
// Ending a session is one transaction that names all of them. Servers take
// about two megabytes for that: with more, a leader's followers leave it one
// after the other, and a server that has written it down does not start again
// (ZOOKEEPER-4306). The set tells how near a session is to that.
type ephemerals struct {
	mu         sync.Mutex        // protects the following fields
	paths      map[string]uint64 // the values are the numbers under which they were noted
	noted      uint64            // the newest of these numbers
	size       int               // the bytes that the paths take in the transaction
	trusted    int               // the size beyond which to look; 0 stands for maxEndingSize
	looking    bool              // somebody finds out which of them are there
	warnedSize int               // the size at the last warning; 0 for none
}

const (
	// maxEndingSize is how long the paths of a session may be together, for one
	// transaction to end it.
	maxEndingSize = 1 << 20

	// untrustedSize is how much the set may grow beyond the limit until the
	// client looks again, if it has been near the limit.
	untrustedSize = maxEndingSize / 4

	pathHeader = 4 // length
)

// add returns the nodes if they are so many that it is time to look which of
// them are there.
func (e *ephemerals) add(path string) (look []notedPath) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paths == nil {
		e.paths = map[string]uint64{}
	}
	if _, known := e.paths[path]; !known {
		e.size += pathHeader + len(path)
	}
	e.noted++
	e.paths[path] = e.noted
	if e.looking || e.size <= max(e.trusted, maxEndingSize) {
		return nil
	}
	e.looking = true
	return e.listLocked()
}

// notedPath is a node of the set, as it was noted at some time.
type notedPath struct {
	path   string
	number uint64
}

func (e *ephemerals) list() []notedPath {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.listLocked()
}

func (e *ephemerals) listLocked() []notedPath {
	all := make([]notedPath, 0, len(e.paths))
	for path, number := range e.paths {
		all = append(all, notedPath{path, number})
	}
	return all
}

// counted ends a look that has found so many bytes of paths. It returns the size
// if it has passed the limit, or has doubled since the last warning, else 0.
func (e *ephemerals) counted(there int) (warn int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looking = false
	if there <= maxEndingSize {
		e.trusted = there + untrustedSize
		return 0
	}
	e.trusted = 2 * there
	if there < 2*e.warnedSize {
		return 0
	}
	e.warnedSize = there
	return there
}

// remove takes a node out that was noted under the number. If it has another
// number, it was made anew since.
func (e *ephemerals) remove(path string, number uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paths[path] == number {
		e.removeLocked(path)
	}
}

func (e *ephemerals) removeLocked(path string) {
	if _, known := e.paths[path]; known {
		delete(e.paths, path)
		e.size -= pathHeader + len(path)
	}
}

// except returns all nodes but some.
func (e *ephemerals) except(some map[string]bool) (paths []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for path := range e.paths {
		if !some[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// excess returns nodes that must be deleted before the session may be ended.
func (e *ephemerals) excess() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var paths []string
	left := e.size
	for path := range e.paths {
		if left <= maxEndingSize {
			break
		}
		paths = append(paths, path)
		left -= pathHeader + len(path)
	}
	return paths
}
