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

// rest stands for p when there are too many: whatever the name, it must be seen what was lost and why.
func (p lockPoint) overflow() lockPoint {
	if p.name != "" {
		p.name = overflowName
	}
	return p
}

func (p lockPoint) attributes() []attribute.KeyValue {
	return nonEmpty(
		attribute.String(semconv.LockRecipe, p.recipe),
		attribute.String(semconv.LockMode, p.mode),
		attribute.String(semconv.LockName, p.name),
		attribute.String(semconv.LockOutcome, p.outcome),
		attribute.String(semconv.LockEnd, p.end),
		attribute.String(semconv.ErrorType, p.errorType))
}

// operationPoint is what a measurement of an operation is about.
type operationPoint struct{ operation, server, errorType, status string }

// rest stands for p when there are too many.
func (p operationPoint) overflow() operationPoint {
	p.server = ""
	return p
}

func (p operationPoint) attributes() []attribute.KeyValue {
	return append(nonEmpty(
		attribute.String(semconv.DBSystem, zookeeper),
		attribute.String(semconv.DBOperation, p.operation),
		attribute.String(semconv.ErrorType, p.errorType),
		attribute.String(semconv.DBStatus, p.status)), serverAttributes(p.server)...)
}

func nonEmpty(attrs ...attribute.KeyValue) []attribute.KeyValue {
	some := attrs[:0]
	for _, a := range attrs {
		if a.Value.AsString() != "" {
			some = append(some, a)
		}
	}
	return some
}

// point is what a measurement is about.
type point[P any] interface {
	comparable
	attributes() []attribute.KeyValue
	overflow() P // stands for it when there are too many
}

// points keeps what is known of each point. To sort attributes each time takes longer than to measure, and to count is
// cheaper than to tell an instrument of each change: metrics that are numbers are looked up when they are collected.
type seriesSet[P point[P]] struct {
	byPoint sync.Map // of P to *measured
	size    atomic.Int64
}

// measured is a point: its attributes as instruments want them, and what is counted of it.
type series struct {
	record  []metric.RecordOption
	observe []metric.ObserveOption
	counts  [numCounts]count
}

// What is counted of locks. Each has an instrument in metrics.
const (
	waiters = iota
	holders
	acquisitions
	losses
	overruns
	numCounts
)

// count is a number that is reported once it has changed.
type count struct {
	value   atomic.Int64
	changed atomic.Bool
}

func (c *count) add(n int64) {
	c.value.Add(n)
	c.changed.Store(true)
}

// maxPoints bounds the points, in case that there are more names of locks than there should be. A lock has a few. Beyond it
// there are those that rest returns, of which there cannot be many.
const maxSeries = 1000

func (ps *seriesSet[P]) lookUp(p P) *series {
	if known, ok := ps.byPoint.Load(p); ok {
		return known.(*series)
	}
	if ps.size.Load() >= maxSeries {
		p = p.overflow()
		if known, ok := ps.byPoint.Load(p); ok {
			return known.(*series)
		}
	}
	with := metric.WithAttributeSet(attribute.NewSet(p.attributes()...))
	known, loaded := ps.byPoint.LoadOrStore(p, &series{record: []metric.RecordOption{with}, observe: []metric.ObserveOption{with}})
	if !loaded {
		ps.size.Add(1)
	}
	return known.(*series)
}

// other is the value of attributes for all that there is no room for.
const overflowName = "_OTHER"
