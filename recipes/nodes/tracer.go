package nodes

import "github.com/gocurator/curator/framework"

// Tracer is told what becomes of every persistent node, and so of every member
// of a group, of a client whose clienttrace.Tracer has this method as well.
//
// NodeChanged is called for every Change of a node, in order, one call after
// the other. Again says, of Registered, that the node was registered before. A
// clienttrace.Teller makes the calls: a Tracer that blocks holds up no node. The
// method must not panic.
type Tracer interface {
	NodeChanged(change Change, again bool)
}

// traceLocked tells the client's tracer of a change, if it wants to know.
func (n *PersistentNode) traceLocked(change Change) {
	tracer, ok := framework.Extend(n.client).Tracer().(Tracer)
	if !ok {
		return
	}
	if n.teller == nil {
		n.teller = framework.Extend(n.client).NewTeller()
	}
	again := change.State == Registered && n.everRegistered
	n.everRegistered = n.everRegistered || change.State == Registered
	n.teller.Post(func() { tracer.NodeChanged(change, again) })
}
