package framework

import (
	"sync"
	"time"
)

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
