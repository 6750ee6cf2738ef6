package framework

import (
	"sync"
	"time"
)

// manyEphemerals is how many ephemeral nodes a session may have before the client logs
// a warning. Ending a session is one transaction that names all its nodes, and servers
// can process about two megabytes of names: beyond that, followers leave the leader one
// by one, and a server that has logged the transaction cannot restart (ZOOKEEPER-4306).
const manyEphemerals = 10_000

// ephemerals is the set of a session's ephemeral nodes that this client has created and
// not deleted. It does not grow beyond manyEphemerals.
type ephemerals struct {
	mu    sync.Mutex          // protects the following fields
	paths map[string]struct{} // by the servers' paths; remove removes one, and add drops all beyond manyEphemerals
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

func (e *ephemerals) has(path string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, there := e.paths[path]
	return there
}

func (e *ephemerals) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.many {
		return manyEphemerals
	}
	return len(e.paths)
}

// nodeGone tells the present session that a node no longer exists. The client does not
// track the nodes of earlier sessions.
func (c *Client) nodeGone(path string) {
	c.newest().nodeGone(path)
}

// keptNodes are the ephemeral nodes of a session that Close leaves to the
// servers.
type keptNodes struct {
	mu    sync.Mutex           // protects the following field
	until map[string]time.Time // by the servers' paths; remove and takeBack remove entries
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

// remove removes a node that no longer exists.
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
