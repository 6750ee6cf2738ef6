package nodes

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// HookNodeStarted is a clienttrace.Hook that is told of every persistent node of
// a client, and so of every member of a group.
//
// NodeStarted is called when a node is started, and returns what is told of its
// changes, or nil. A clienttrace.Teller makes all calls, for each node one after
// the other: a hook that blocks holds up no node. The methods must not panic.
type HookNodeStarted interface {
	NodeStarted(start NodeStart) NodeTracer
}

var hookNodeStarted = framework.NewHookKind[HookNodeStarted]()

// NodeStart says which persistent node was started, and when.
type NodeStart struct {
	Client *framework.Client
	Path   string // as it was asked for: the names of unique nodes have more
	Time   time.Time
}

// NodeTracer is told of every Change of a persistent node, in order. The last
// one is Ended.
type NodeTracer interface {
	NodeChanged(change TracedChange)
}

// TracedChange is a Change as a NodeTracer is told of it.
type TracedChange struct {
	Change
	Time    time.Time
	Again   bool  // of Registered: the node was registered before
	Session int64 // of Registered: the id of the node's session
}

// nodeTrace tells the hooks of a node.
type nodeTrace struct {
	teller     interface{ Post(call func()) bool }
	registered bool // the node was registered

	tracers []NodeTracer // only the teller's calls use it
}

// startTracing tells the client's hooks of a node. It returns nil if none wants
// to know.
func startTracing(n *PersistentNode) *nodeTrace {
	those := hookNodeStarted.Of(n.client)
	if len(those) == 0 {
		return nil
	}
	t := &nodeTrace{teller: framework.Extend(n.client).NewTeller()}
	start := NodeStart{Client: n.client, Path: n.path, Time: time.Now()}
	t.teller.Post(func() {
		for _, h := range those {
			if tracer := h.NodeStarted(start); tracer != nil {
				t.tracers = append(t.tracers, tracer)
			}
		}
	})
	return t
}

// traceLocked tells the hooks of a change.
func (n *PersistentNode) traceLocked(change Change) {
	t := n.trace
	if t == nil {
		return
	}
	traced := TracedChange{Change: change, Time: time.Now()}
	if change.State == Registered {
		traced.Again, traced.Session = t.registered, n.now.Session.ID()
		t.registered = true
	}
	t.teller.Post(func() {
		for _, tracer := range t.tracers {
			tracer.NodeChanged(traced)
		}
	})
}
