package tracing

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locktrace"
)

// lockPoint identifies a time series of locks by its attributes. Empty fields are left
// out.
type lockPoint struct{ recipe, mode, name, outcome, end, errorType string }

func pointOf(a locktrace.Acquire) lockPoint {
	return lockPoint{recipe: a.Recipe, mode: modeOf(a), name: a.Name}
}

// overflow returns the point that replaces p when there are too many points. It drops the
// name of the lock and keeps the other fields, so that losses and their causes remain
// visible.
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

// operationPoint identifies a time series of operations by its attributes.
type operationPoint struct{ operation, server, errorType, status string }

// overflow returns the point that replaces p when there are too many points.
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

// point identifies a time series by the attributes of its measurements.
type point[P any] interface {
	comparable
	attributes() []attribute.KeyValue
	overflow() P // replaces the point when there are too many
}

// seriesSet keeps one series for each point. Sorting attributes takes longer than a
// measurement, so the attributes are sorted once per point. An atomic counter is cheaper
// than a call of an instrument for each change, so the counts are read when the metrics
// are collected.
type seriesSet[P point[P]] struct {
	byPoint sync.Map // maps P to *series
	size    atomic.Int64
}

// series is one time series: its attributes in the form that instruments need, and its
// counts.
type series struct {
	record  []metric.RecordOption
	observe []metric.ObserveOption
	counts  [numCounts]count
}

// The counts of locks. Each count has an instrument.
const (
	waiters = iota
	holders
	acquisitions
	losses
	overruns
	numCounts
)

var countNames = [numCounts]string{
	waiters: semconv.Waiters, holders: semconv.Holders, acquisitions: semconv.Acquisitions,
	losses: semconv.Losses, overruns: semconv.Overruns,
}

// count is a number that is reported after its first change.
type count struct {
	value   atomic.Int64
	changed atomic.Bool
}

func (c *count) add(n int64) {
	c.value.Add(n)
	c.changed.Store(true)
}

// maxSeries bounds the number of series, in case a program derives lock names from data.
// A lock has a few series. Beyond the bound, only the few points that overflow returns
// are added.
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
	known, loaded := ps.byPoint.LoadOrStore(p, &series{
		record:  []metric.RecordOption{with},
		observe: []metric.ObserveOption{with},
	})
	if !loaded {
		ps.size.Add(1)
	}
	return known.(*series)
}

// overflowName replaces the lock's name on a series that combines many names.
// OpenTelemetry uses the same word.
const overflowName = "_OTHER"
