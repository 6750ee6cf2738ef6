package nodes

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookNodeStarted is a clienttrace.Hook that is called for every persistent node of a
// client, and so for every member of a group.
//
// NodeStarted is called when a node is started. It returns a tracer for the node's
// changes, or nil. The client's emitter makes all calls for a node.
type HookNodeStarted interface {
	NodeStarted(start NodeStart) NodeTracer
}

var hookNodeStarted = framework.NewHookKind[HookNodeStarted]()

// NodeStart describes the persistent node that was started.
type NodeStart struct {
	Client *framework.Client
	Path   string          // the argument of NewPersistentNode; the name of a unique node is longer
	Node   *PersistentNode // for its Registration and LastError
	Time   time.Time
}

// NodeTracer receives every Change of a persistent node, in order. The last Change is
// Ended.
type NodeTracer interface {
	NodeChanged(change TracedChange)
}

// TracedChange is a Change with what a NodeTracer needs beyond it.
type TracedChange struct {
	Change
	Time    time.Time
	Again   bool  // for Registered: the node was registered earlier, too
	Session int64 // for Registered: the id of the node's session
}

// kinds are the log lines for changes.
var kinds = map[State]event.Kind{
	Registered:  {Info: "persistent node registered"},
	Lost:        {Warn: "persistent node lost"},
	Conflict:    {Warn: "persistent node is in conflict with another node"},
	Overwritten: {Warn: "persistent node was overwritten by another client"},
	Ended:       {Warn: "persistent node ends"},
}

var eventRefused = event.Kind{Warn: "persistent node is refused, and will be retried after a pause"}

// emitLocked reports a change to hooks and log. A change that the user asked for is not
// logged.
func (n *PersistentNode) emitLocked(change Change) {
	kind, cause := kinds[change.State], change.Err
	var attrs []slog.Attr // attributes that replace the cause
	switch change.State {
	case Registered:
		attrs = []slog.Attr{event.Session(n.now.Session.ID())}
	case Conflict:
		attrs = []slog.Attr{slog.String(semconv.ZNodeOwner, event.SessionText(n.conflict.Session))}
	case Ended:
		cause, attrs = n.life.UnlessWanted(cause), []slog.Attr{event.Cause(n.failure)}
	}
	if change.Err != nil && n.life.UnlessWanted(change.Err) == nil {
		kind.Warn = ""
	}
	kind.Hook = n.hookLocked(change)
	n.events.At(cmp.Or(change.Path, n.path)).Emit(kind, cause, attrs...)
}

// tellStarted calls the client's hooks when the node starts.
func (n *PersistentNode) tellStarted() {
	start := NodeStart{Client: n.client, Path: n.path, Node: n, Time: time.Now()}
	n.events.Emit(event.Kind{Hook: event.Call(hookNodeStarted, func(h HookNodeStarted) {
		if tracer := h.NodeStarted(start); tracer != nil {
			n.tracers = append(n.tracers, tracer)
		}
	})}, nil)
}

// hookLocked returns the hook that reports a change to the tracers.
func (n *PersistentNode) hookLocked(change Change) event.Hook {
	traced := TracedChange{Change: change, Time: time.Now()}
	if change.State == Registered {
		traced.Again, traced.Session = n.registeredOnce, n.now.Session.ID()
		n.registeredOnce = true
	}
	if len(hookNodeStarted.Of(n.client)) == 0 {
		return nil
	}
	return func(event.Source) {
		insider.Of(n.client).Emit(func() {
			for _, tracer := range n.tracers {
				tracer.NodeChanged(traced)
			}
		})
	}
}
