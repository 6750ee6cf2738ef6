package framework

import (
	"sync"
	"time"
)

// keptNodes are the ephemeral nodes of a session that Close leaves to the
// servers.
type keptNodes struct {
	mu    sync.Mutex           // protects the following field
	until map[string]time.Time // the keys are the servers' paths
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

// KeepUntil has Close leave an ephemeral node to the servers, if Close is called
// before the given time. It is for a lock that others must not get as soon as Close
// is called: its holder has lost it and may still be stopping, or it has a minimum
// hold. The recipe calls the function returned when it gives the node up by itself.
// Another call for the node replaces the time, and the function of the earlier call
// has no effect then.
//
// Close then deletes the client's other ephemeral nodes, and leaves the session to
// the servers. They end it when the session timeout is over, be it before or after
// the given time. It counts from Close or, if Close reaches no server in its time,
// from the last request that a server has heard. In that case the other
// nodes stay as long. So do those that Close does not get deleted in time, for
// which it has a second more for each thousand of them, and no longer than the
// session timeout: it takes a server that answers after 30 ms half a second for a
// thousand. Servers before 3.6 do not list a session's nodes: with them, all nodes
// of the session stay as long.
func (e Extension) KeepUntil(n Created, until time.Time) (takeBack func()) {
	path := e.full(n.Path)
	n.Session.kept.add(path, until)
	return func() { n.Session.kept.takeBack(path, until) }
}
