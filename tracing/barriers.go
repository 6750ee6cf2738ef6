package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/barriers"
)

// barrierMetrics has the instruments of barriers.
type barrierMetrics struct {
	waits metric.Float64Histogram
	lost  metric.Int64Counter
}

func newBarrierMetrics(b *builder) barrierMetrics {
	return barrierMetrics{
		waits: b.histogram(semconv.BarrierWaitDuration, lockBuckets),
		lost:  b.counter(semconv.BarrierMembersLost),
	}
}

// BarrierWaited implements the hook.
func (t *tracer) BarrierWaited(w barriers.Waited) {
	attrs := append(make([]attribute.KeyValue, 0, 2), attribute.String(semconv.BarrierWait, w.Op))
	if w.Err != nil {
		attrs = append(attrs, attribute.String(semconv.ErrorType, errorType(w.Err)))
	}
	t.metrics.barriers.waits.Record(context.Background(), w.Duration.Seconds(), metric.WithAttributes(attrs...))
}

// BarrierMembersLost implements the hook.
func (t *tracer) BarrierMembersLost(n int) {
	t.metrics.barriers.lost.Add(context.Background(), int64(n))
}
