package tracing

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes"
)

// lockPoint is what a measurement of a lock is about. What is empty is no attribute.
type lockPoint struct{ recipe, mode, name, outcome, end, errorType string }

func pointOf(a recipes.Acquire) lockPoint {
	return lockPoint{recipe: a.Recipe, mode: modeOf(a), name: a.Name}
}

func (p lockPoint) attributes() []attribute.KeyValue {
	return present(
		attribute.String(semconv.LockRecipe, p.recipe),
		attribute.String(semconv.LockMode, p.mode),
		attribute.String(semconv.LockName, p.name),
		attribute.String(semconv.LockOutcome, p.outcome),
		attribute.String(semconv.LockEnd, p.end),
		attribute.String(semconv.ErrorType, p.errorType))
}

// operationPoint is what a measurement of an operation is about.
type operationPoint struct{ operation, server, errorType, status string }

func (p operationPoint) attributes() []attribute.KeyValue {
	return append(present(
		attribute.String(semconv.DBSystem, zookeeper),
		attribute.String(semconv.DBOperation, p.operation),
		attribute.String(semconv.ErrorType, p.errorType),
		attribute.String(semconv.DBStatus, p.status)), serverAttributes(p.server)...)
}

func present(attrs ...attribute.KeyValue) []attribute.KeyValue {
	some := attrs[:0]
	for _, a := range attrs {
		if a.Value.AsString() != "" {
			some = append(some, a)
		}
	}
	return some
}

// pointCache keeps the attributes of measurements: to sort them each time takes longer than to measure.
type pointCache[P interface {
	comparable
	attributes() []attribute.KeyValue
}] struct {
	points sync.Map // of P to measurement
	size   atomic.Int64
}

// measurement is the attributes of a measurement, as the instruments want them.
type measurement struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// maxPoints bounds a cache, in case that there are more names of locks than there should be.
const maxPoints = 1000

func (c *pointCache[P]) of(p P) measurement {
	if known, ok := c.points.Load(p); ok {
		return known.(measurement)
	}
	with := metric.WithAttributeSet(attribute.NewSet(p.attributes()...))
	m := measurement{[]metric.AddOption{with}, []metric.RecordOption{with}}
	if c.size.Add(1) <= maxPoints {
		c.points.Store(p, m)
	}
	return m
}
