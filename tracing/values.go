package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/shared"
)

// valueMetrics has the instruments of atomic and of shared values.
type valueMetrics struct{ writes, promotions, changes, rereads, undecodable metric.Int64Counter }

func newValueMetrics(b *builder) valueMetrics {
	return valueMetrics{
		writes:      b.counter(semconv.AtomicWrites),
		promotions:  b.counter(semconv.AtomicPromotions),
		changes:     b.counter(semconv.SharedChanges),
		rereads:     b.counter(semconv.SharedRereads),
		undecodable: b.counter(semconv.SharedUndecodable),
	}
}

// AtomicWritten implements the hook.
func (t *tracer) AtomicWritten(outcome string) {
	t.metrics.values.writes.Add(context.Background(), 1,
		metric.WithAttributes(attribute.String(semconv.AtomicOutcome, outcome)))
}

// AtomicPromoted implements the hook.
func (t *tracer) AtomicPromoted() { t.metrics.values.promotions.Add(context.Background(), 1) }

// SharedValue implements the hook.
func (t *tracer) SharedValue(event shared.Event) {
	ctx, m := context.Background(), t.metrics.values
	switch event {
	case shared.Changed:
		m.changes.Add(ctx, 1)
	case shared.ReadAgain:
		m.rereads.Add(ctx, 1)
	case shared.Undecodable:
		m.undecodable.Add(ctx, 1)
	}
}
