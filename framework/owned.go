package framework

import (
	"log/slog"
	"sync"
)

// owned is the set of a session's ephemeral nodes, as far as this client has
// made them and has not deleted them. Others may have deleted some.
//
// Ending a session is one transaction that names all of them. Servers take
// about two megabytes for that: with more, a leader's followers leave it one
// after the other, and a server that has written it down does not start again
// (ZOOKEEPER-4306). The set tells how near a session is to that.
type owned struct {
	mu    sync.Mutex // protects the following fields
	paths map[string]struct{}
	size  int // of the paths in the transaction
	told  int // the size at which there was a warning
}

const (
	// maxEndingSize is how long the paths of a session may be together, for one
	// transaction to end it.
	maxEndingSize = 1 << 20

	pathHeader = 4 // length
)

// made notes an ephemeral node, with the server's name for its path.
func (s *Session) made(path string) {
	if size := s.owned.add(path); size > 0 {
		s.client.cfg.logger.Warn("zookeeper session has very many ephemeral nodes: servers may not survive its end if it is lost",
			slog.Int("bytes", size), slog.Int("limit", maxEndingSize))
	}
}

// add returns the size if it has passed the limit, or has doubled since it was last told, else 0.
func (o *owned) add(path string) (tell int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.paths[path]; known {
		return 0
	}
	if o.paths == nil {
		o.paths = map[string]struct{}{}
	}
	o.paths[path] = struct{}{}
	o.size += pathHeader + len(path)
	if o.size <= maxEndingSize || o.size < 2*o.told {
		return 0
	}
	o.told = o.size
	return o.size
}

// unmade notes that there is no such node any more, ephemeral or not.
func (s *Session) unmade(path string) {
	o := &s.owned
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.paths[path]; known {
		delete(o.paths, path)
		o.size -= pathHeader + len(path)
	}
}

// unmade is that of the present session. Nodes of an earlier one are not known
// any more.
func (c *Client) unmade(path string) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	s.unmade(path)
}

// excess returns nodes that must be deleted before the session may be ended.
func (o *owned) excess() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var paths []string
	left := o.size
	for path := range o.paths {
		if left <= maxEndingSize {
			break
		}
		paths = append(paths, path)
		left -= pathHeader + len(path)
	}
	return paths
}
