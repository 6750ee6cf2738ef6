package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/nodes"
)

// nodeMetrics has the instruments of persistent nodes.
type nodeMetrics struct{ registrations, losses, conflicts metric.Int64Counter }

func newNodeMetrics(b *builder) nodeMetrics {
	return nodeMetrics{
		registrations: b.counter(semconv.NodeRegistrations),
		losses:        b.counter(semconv.NodeLosses),
		conflicts:     b.counter(semconv.NodeConflicts),
	}
}

// NodeChanged implements nodes.Tracer.
func (t *Tracer) NodeChanged(change nodes.Change, again bool) {
	ctx, m := context.Background(), t.metrics.nodes
	switch change.State {
	case nodes.Registered:
		m.registrations.Add(ctx, 1, metric.WithAttributes(attribute.Bool(semconv.NodeRegained, again)))
	case nodes.Lost:
		m.losses.Add(ctx, 1, metric.WithAttributes(attribute.String(semconv.NodeLoss, lossOf(change.Err))))
	case nodes.Conflict:
		m.conflicts.Add(ctx, 1)
	}
}

// lossOf says in a word why a persistent node was lost.
func lossOf(err error) string {
	switch {
	case errors.Is(err, framework.ErrSessionLost):
		return "session_lost"
	case errors.Is(err, nodes.ErrNodeDeleted):
		return "node_deleted"
	case errors.Is(err, nodes.ErrNotTouched):
		return "not_touched"
	case errors.Is(err, framework.ErrClosed):
		return "client_closed"
	default:
		return "other"
	}
}
