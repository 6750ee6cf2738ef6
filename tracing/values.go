package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/shared"
)

// AtomicWritten implements the hook.
func (t *tracer) AtomicWritten(outcome string) {
	t.metrics.count(semconv.AtomicWrites, 1, attribute.String(semconv.AtomicOutcome, outcome))
}

var sharedEvents = map[shared.Event]string{
	shared.Changed: semconv.SharedChanges, shared.ReadAgain: semconv.SharedRereads,
	shared.Undecodable: semconv.SharedUndecodable,
}

// SharedValue implements the hook.
func (t *tracer) SharedValue(event shared.Event) {
	if name, known := sharedEvents[event]; known {
		t.metrics.count(name, 1)
	}
}

// BarrierWaited implements the hook.
func (t *tracer) BarrierWaited(w barriers.Waited) {
	attrs := append(make([]attribute.KeyValue, 0, 2), attribute.String(semconv.BarrierWait, w.Op))
	if w.Err != nil {
		attrs = append(attrs, attribute.String(semconv.ErrorType, errorType(w.Err)))
	}
	t.metrics.histograms[semconv.BarrierWaitDuration].Record(context.Background(),
		w.Duration.Seconds(), metric.WithAttributes(attrs...))
}
