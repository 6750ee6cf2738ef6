package framework

import (
	"sync"
	"time"
)

// manyEphemerals is how many ephemeral nodes a session may have before the log has a
// warning. Ending a session is one transaction that names all of them. Servers take
// about two megabytes for that: with more, a leader's followers leave it one after
// the other, and a server that has written it down does not start again
// (ZOOKEEPER-4306).
const manyEphemerals = 10_000

// ephemerals is the set of a session's ephemeral nodes, as far as this client has
// created them and has not deleted them. Beyond manyEphemerals, it counts no more.
type ephemerals struct {
	mu    sync.Mutex          // protects the following fields
	paths map[string]struct{} // the servers' names; remove removes one, and add all of more than manyEphemerals
	many  bool
}

// add adds a node, and reports whether the nodes are many from now on.
func (e *ephemerals) add(path string) (many bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.many {
		return false
	}
	if e.paths == nil {
		e.paths = map[string]struct{}{}
	}
	e.paths[path] = struct{}{}
	if e.many = len(e.paths) > manyEphemerals; e.many {
		e.paths = nil
	}
	return e.many
}

func (e *ephemerals) remove(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.paths, path)
}

func (e *ephemerals) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.many {
		return manyEphemerals
	}
	return len(e.paths)
}

// nodeGone tells the present session that there is no such node any more. The
// client does not know the nodes of an earlier session.
func (c *Client) nodeGone(path string) {
	c.newest().nodeGone(path)
}

// keptNodes are the ephemeral nodes of a session that Close leaves to the
// servers.
type keptNodes struct {
	mu    sync.Mutex           // protects the following field
	until map[string]time.Time // the keys are the servers' paths; remove and takeBack remove them
}

func (k *keptNodes) add(path string, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.until == nil {
		k.until = map[string]time.Time{}
	}
	k.until[path] = until
}

// takeBack removes a node, unless another call has replaced the time.
func (k *keptNodes) takeBack(path string, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.until[path].Equal(until) {
		delete(k.until, path)
	}
}

// remove removes a node that does not exist any more.
func (k *keptNodes) remove(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.until, path)
}

// now returns the nodes whose time is not over.
func (k *keptNodes) now() map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	paths := map[string]bool{}
	for path, until := range k.until {
		if time.Now().Before(until) {
			paths[path] = true
		}
	}
	return paths
}
