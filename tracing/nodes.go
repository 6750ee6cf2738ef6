package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/nodes"
)

// observeNodes reports how many nodes are missing, once there has been a node.
func (t *tracer) observeNodes(o metric.Observer) {
	t.mu.Lock()
	missing, some := int64(0), t.hadNodes
	for n := range t.nodes {
		if !n.registered {
			missing++
		}
	}
	t.mu.Unlock()
	if some {
		o.ObserveInt64(t.metrics.observed[semconv.NodesMissing], missing)
	}
}

// node is the trace of one persistent node, from its start to its end. It always has one
// open span: "register" while the node is missing, and "registration" while the node
// exists. Each span has a link to the previous one, or is its child.
type node struct {
	tracer *tracer
	client clienttrace.Client
	path   string
	last   context.Context // has the open span, or the previous one

	// Protected by Tracer.mu.
	open       *openSpan // nil if the node has ended
	registered bool
}

// NodeStarted implements the hook.
func (t *tracer) NodeStarted(start nodes.NodeStart) nodes.NodeTracer {
	client := framework.Extend(start.Client)
	n := &node{tracer: t, client: client.Root(), path: client.FullPath(start.Path), last: context.Background()}
	register := n.startSpan(context.Background(), "register", start.Time)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes[n], t.hadNodes, n.open = true, true, register
	return n
}

// startSpan starts the next span.
func (n *node) startSpan(ctx context.Context, verb string, at time.Time, opts ...trace.SpanStartOption) *openSpan {
	opts = append(opts, trace.WithTimestamp(at), trace.WithAttributes(attribute.String(semconv.ZNodePath, n.path)))
	var span trace.Span
	n.last, span = n.tracer.spans.Start(ctx, verb+" persistent_node", opts...)
	return &openSpan{Span: span, client: n.client, since: at}
}

// NodeChanged implements nodes.NodeTracer.
func (n *node) NodeChanged(change nodes.TracedChange) {
	m, at := n.tracer.metrics, trace.WithTimestamp(change.Time)
	open := n.openSpan()
	switch change.State {
	case nodes.Registered:
		m.count(semconv.NodeRegistrations, 1, attribute.Bool(semconv.NodeRegained, change.Again))
		if change.Again {
			open.AddEvent(semconv.EventRegained, at)
		}
		n.replace(true, n.startSpan(n.last, "registration", change.Time, trace.WithAttributes(
			attribute.Int64(semconv.NodeCzxid, change.Czxid),
			attribute.String(semconv.SessionID, fmt.Sprintf("0x%x", uint64(change.Session))),
		)))
		open.End(at)
	case nodes.Lost:
		n.lost(open, change)
	case nodes.Conflict:
		m.count(semconv.NodeConflicts, 1)
		open.AddEvent(semconv.EventConflict, at, trace.WithAttributes(attribute.String(semconv.Cause, change.Err.Error())))
	case nodes.Overwritten:
		open.AddEvent(semconv.EventOverwritten, at)
	case nodes.Ended:
		n.end(change.Err, change.Time)
	}
}

// lost ends a registration. If the client was closed, Ended follows, and no register span
// is needed.
func (n *node) lost(registration trace.Span, change nodes.TracedChange) {
	at, loss := trace.WithTimestamp(change.Time), lossOf(change.Err)
	why := attribute.String(semconv.NodeLoss, loss)
	n.tracer.metrics.count(semconv.NodeLosses, 1, why)
	registration.AddEvent(semconv.EventLost, at, trace.WithAttributes(why,
		attribute.String(semconv.Cause, change.Err.Error())))
	if reason.Is(change.Err, framework.ErrClosed) {
		return
	}
	registration.SetAttributes(attribute.String(semconv.ErrorType, loss))
	registration.SetStatus(codes.Error, change.Err.Error())
	link := trace.WithLinks(linkTo(registration.SpanContext(), "registration"))
	n.replace(false, n.startSpan(context.Background(), "register", change.Time, link))
	registration.End(at)
}

// openSpan returns the open span, or a no-op span if the node has ended.
func (n *node) openSpan() trace.Span {
	n.tracer.mu.Lock()
	defer n.tracer.mu.Unlock()
	if n.open == nil {
		return trace.SpanFromContext(context.Background())
	}
	return n.open.Span
}

// replace makes next the open span. If ClientClosed has ended the node meanwhile, replace
// ends next.
func (n *node) replace(registered bool, next *openSpan) {
	n.tracer.mu.Lock()
	ended := n.open == nil
	if !ended {
		n.open, n.registered = next, registered
	}
	n.tracer.mu.Unlock()
	if ended {
		next.End(trace.WithTimestamp(next.since))
	}
}

// end ends the node's last span. A node that was shut down, or whose client was closed,
// has ended without an error.
func (n *node) end(why error, at time.Time) {
	t := n.tracer
	t.mu.Lock()
	delete(t.nodes, n)
	open := n.open
	n.open = nil
	t.mu.Unlock()
	if open == nil {
		return
	}
	if why != nil && !reason.Is(why, nodes.ErrClosed) && !reason.Is(why, framework.ErrClosed) {
		open.SetAttributes(attribute.String(semconv.ErrorType, errorType(why)))
		open.SetStatus(codes.Error, why.Error())
	}
	open.End(trace.WithTimestamp(at))
}

func (t *tracer) nodesOfClient(c clienttrace.Client) (its []*node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := range t.nodes {
		if n.client == c {
			its = append(its, n)
		}
	}
	return its
}

// lossOf returns the cause of a persistent node's loss in a word.
func lossOf(err error) string {
	switch {
	case reason.Is(err, framework.ErrSessionLost):
		return "session_lost"
	case reason.Is(err, nodes.ErrNodeDeleted):
		return "node_deleted"
	case reason.Is(err, nodes.ErrNotTouched):
		return "not_touched"
	case reason.Is(err, framework.ErrClosed):
		return "client_closed"
	default:
		return "other"
	}
}
