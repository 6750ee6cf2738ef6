package nodes

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookNodeStarted is a clienttrace.Hook that is called for every persistent node of
// a client, and so for every member of a group.
//
// NodeStarted is called when a node is started, and returns the tracer of its
// changes, or nil. The client's emitter makes all calls for a node.
type HookNodeStarted interface {
	NodeStarted(start NodeStart) NodeTracer
}

var hookNodeStarted = framework.NewHookKind[HookNodeStarted]()

// NodeStart says which persistent node was started, and when.
type NodeStart struct {
	Client *framework.Client
	Path   string // the path that NewPersistentNode was given: unique nodes have longer names
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
	Again   bool  // for Registered: the node was registered before
	Session int64 // for Registered: the id of the node's session
}

// kinds are what is told of changes.
var kinds = map[State]event.Kind{
	Registered:  {Info: "persistent node registered", Flight: flight.Event{Kind: flight.NodeChanged, Name: "registered"}},
	Lost:        {Warn: "persistent node lost", Flight: flight.Event{Kind: flight.NodeChanged, Name: "lost"}},
	Conflict:    {Warn: "persistent node is in conflict with another node", Flight: flight.Event{Kind: flight.NodeChanged, Name: "conflict"}},
	Overwritten: {Warn: "persistent node was written by somebody else", Flight: flight.Event{Kind: flight.NodeOverwritten, Name: "overwritten"}},
	Ended:       {Warn: "persistent node ends", Flight: flight.Event{Kind: flight.NodeChanged, Name: "ended"}},
}

var eventRefused = event.Kind{Warn: "persistent node is refused, and will be retried after a pause"}

// eventNotDeleted is that the node stays, behind the end.
var eventNotDeleted = event.Kind{Flight: flight.Event{Kind: flight.NodeChanged, Name: "not deleted"}}

// emitLocked tells hooks, flight recorder and log of a change. The log has no line
// of what the user has wanted.
func (n *PersistentNode) emitLocked(change Change) {
	kind, cause := kinds[change.State], change.Err
	var attrs []slog.Attr // they replace the cause
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
	kind.Flight.Path, kind.Hook = n.events.FullPath(), n.hookLocked(change)
	n.events.At(cmp.Or(change.Path, n.path)).Emit(kind, cause, attrs...)
}

// tellStarted tells the client's hooks of the node.
func (n *PersistentNode) tellStarted() {
	start := NodeStart{Client: n.client, Path: n.path, Time: time.Now()}
	n.events.Emit(event.Kind{Hook: event.Call(hookNodeStarted, func(h HookNodeStarted) {
		if tracer := h.NodeStarted(start); tracer != nil {
			n.tracers = append(n.tracers, tracer)
		}
	})}, nil)
}

// hookLocked tells the tracers of a change.
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

// record is what a persistent node tells its client's flight recorder.
type record struct {
	end     func(err error) // ends what the recorder shows
	changed time.Time       // the last change between registered and not
	there   bool            // the node was registered by that change
	over    bool            // nothing goes on any more
	left    *Registration   // the node that could not be deleted; nil if its path is not known
}

// beginLocked has the client's flight recorder show the node.
func (r *record) beginLocked(n *PersistentNode) {
	r.changed = time.Now()
	r.end = insider.Of(n.client).Recorder().Followers().Registrations.Add(n.events.FullPath(), n.recorded)
}

// recorded describes the node for the flight recorder.
func (n *PersistentNode) recorded() flight.Registration {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := flight.Registration{Path: n.events.FullPath(), Changed: n.record.changed}
	if r, there := n.registrationLocked(); there {
		n.recordNode(&now, &r)
		return now
	}
	switch {
	case n.failure != nil:
		now.Err = n.life.UnlessWanted(n.failure)
		now.Deleting = !n.record.over && n.cfg.ttl == 0
		n.recordNode(&now, cmp.Or(n.now, n.record.left))
	case n.now != nil: // it is past, and nobody has noted that yet
		now.Err, now.Changed = n.whyPastLocked(), time.Now()
	case n.conflict != nil:
		now.Err, now.Conflict = n.conflict, true
	default:
		now.Err = n.keeping.Trouble()
	}
	return now
}

func (n *PersistentNode) recordNode(now *flight.Registration, r *Registration) {
	if r != nil {
		now.Node, now.Czxid = n.events.At(r.Path).FullPath(), r.Czxid
	}
}

func (n *PersistentNode) noteGone(leftover error) {
	n.mu.Lock()
	if n.life.UnlessWanted(leftover) != nil {
		n.record.left = n.now
	}
	n.now, n.leftover, n.record.over = nil, leftover, true
	n.late = slices.DeleteFunc(n.late, lateCreate.isPast) // the removal has seen these
	n.mu.Unlock()
	n.recordLeftover(n.life.Err(), leftover)
}

// recordLeftover tells the flight recorder that nothing goes on any more, and
// of the error that has ended the persistent node or has left the node there.
func (n *PersistentNode) recordLeftover(failure, leftover error) {
	leftover = n.life.UnlessWanted(leftover)
	if leftover != nil {
		n.events.Emit(eventNotDeleted, leftover)
		leftover = fmt.Errorf("the node stays: %w", leftover)
	}
	n.record.end(errors.Join(n.life.UnlessWanted(failure), leftover))
}

// noteThereLocked notes when the node has come or gone.
func (n *PersistentNode) noteThereLocked() {
	if there := n.now != nil && n.failure == nil; there != n.record.there {
		n.record.there, n.record.changed = there, time.Now()
	}
}
