package framework

import (
	"log/slog"
	"sync"
)

// ephemerals is the set of a session's ephemeral nodes, as far as this client
// has made them and has not deleted them. Others may have deleted some.
//
// Ending a session is one transaction that names all of them. Servers take
// about two megabytes for that: with more, a leader's followers leave it one
// after the other, and a server that has written it down does not start again
// (ZOOKEEPER-4306). The set tells how near a session is to that.
type ephemerals struct {
	mu         sync.Mutex // protects the following fields
	paths      map[string]struct{}
	size       int // of the paths in the transaction
	warnedSize int // at which there was a warning
}

const (
	// maxEndingSize is how long the paths of a session may be together, for one
	// transaction to end it.
	maxEndingSize = 1 << 20

	pathHeader = 4 // length
)

// ephemeralCreated notes an ephemeral node, with the server's name for its
// path.
func (s *Session) ephemeralCreated(path string) {
	if size := s.ephemerals.add(path); size > 0 {
		s.client.cfg.logger.Warn("zookeeper session has very many ephemeral nodes: "+
			"servers may not survive its end if it is lost",
			slog.Int("bytes", size), slog.Int("limit", maxEndingSize))
	}
}

// add returns the size if it has passed the limit, or has doubled since the
// last warning, else 0.
func (e *ephemerals) add(path string) (warn int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.paths[path]; known {
		return 0
	}
	if e.paths == nil {
		e.paths = map[string]struct{}{}
	}
	e.paths[path] = struct{}{}
	e.size += pathHeader + len(path)
	if e.size <= maxEndingSize || e.size < 2*e.warnedSize {
		return 0
	}
	e.warnedSize = e.size
	return e.size
}

// nodeGone notes that there is no such node any more, ephemeral or not.
func (s *Session) nodeGone(path string) {
	e := &s.ephemerals
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.paths[path]; known {
		delete(e.paths, path)
		e.size -= pathHeader + len(path)
	}
}

// nodeGone is that of the present session. The client does not know the nodes
// of an earlier one any more.
func (c *Client) nodeGone(path string) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	s.nodeGone(path)
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
