package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
)

// Boundaries of histograms, in seconds.
var (
	// The range is from an uncontended acquire to a wait that users notice, or to a long
	// job under a lock.
	lockBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

	// A hand-over takes about a round trip to the server.
	handOffBuckets = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}

	// The semantic conventions for databases recommend these boundaries.
	operationBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}
)

// metrics has all instruments by name. If an instrument cannot be created, OpenTelemetry's
// error handler receives the error, and the instrument does nothing.
type metrics struct {
	meter      metric.Meter
	locks      seriesSet[lockPoint]
	operations seriesSet[operationPoint]

	histograms map[string]metric.Float64Histogram
	counters   map[string]metric.Int64Counter

	// The following fields are read only when the metrics are collected.
	observed        map[string]metric.Int64Observable
	observedSeconds map[string]metric.Float64Observable
}

// instrument describes a metric. TELEMETRY.md lists all metrics.
type instrument struct {
	name              string
	kind              kind
	unit, description string
}

// kind creates an instrument, and adds it to the metrics.
type kind func(m *metrics, i instrument) error

// instruments are exported in the order of this list.
var instruments = []instrument{
	{semconv.AcquireDuration, histogram(lockBuckets), "s", "Duration of acquires, whatever their outcome."},
	{semconv.HoldDuration, histogram(lockBuckets), "s", "Time for which locks were held."},
	{semconv.HandOffDuration, histogram(handOffBuckets), "s",
		"Time from learning that the predecessor left to the grant."},
	{semconv.OperationDuration, histogram(operationBuckets), "s", "Duration of database client operations."},
	{semconv.Waiters, observedUpDown, "{acquire}", "Acquires under way."},
	{semconv.Holders, observedUpDown, "{hold}", "Locks held."},
	{semconv.Acquisitions, observedCounter, "{acquire}", "Acquires that have ended."},
	{semconv.Losses, observedCounter, "{hold}", "Locks that were lost while they were held."},
	{semconv.Overruns, observedCounter, "{term}", "Leaderships whose work was reported to go on after their end."},
	{semconv.Reconnects, counter, "{connection}", "Connections that were restored."},
	{semconv.Expiries, counter, "{session}", "Sessions that were lost."},
	{semconv.Sessions, observedUpDown, "{client}", "Clients by the state of their session."},
	{semconv.Watches, observedUpDown, "{watch}", "Watches that clients have set at the servers."},
	{semconv.NodeRegistrations, counter, "{registration}",
		"Persistent nodes that were registered, for the first time or again."},
	{semconv.NodeLosses, counter, "{registration}", "Persistent nodes that were lost while they were registered."},
	{semconv.NodeConflicts, counter, "{conflict}", "Nodes of others in the way of persistent nodes."},
	{semconv.NodesMissing, observedUpDown, "{registration}", "Persistent nodes that are not registered now."},
	{semconv.CacheNodes, observedUpDown, "{node}", "Nodes in caches."},
	{semconv.CacheResyncs, observedCounter, "{resync}", "Caches that have read everything again."},
	{semconv.CacheLagDuration, observedSeconds, "s", "Time for which a cache has been behind: the longest of all caches."},
	{semconv.CacheTransactions, observedGauge, "{transaction}",
		"Transactions by which a cache is behind: the most of all caches."},
	{semconv.DiscoveryInstances, observedUpDown, "{instance}", "Instances in directories of services, by their state."},
	{semconv.DiscoveryMalformed, observedUpDown, "{node}", "Nodes in directories of services that should be instances."},
	{semconv.DiscoveryInterrupted, observedUpDown, "{directory}", "Directories of services that may be old."},
	{semconv.DiscoveryChanges, counter, "{change}", "Changes of directories of services."},
	{semconv.DiscoveryDrains, counter, "{drain}", "Drains of the process's own instances."},
	{semconv.DiscoveryEjections, counter, "{ejection}", "Instances that pickers have taken out."},
	{semconv.AtomicWrites, counter, "{write}", "Writes of atomic numbers and values, by their outcome."},
	{semconv.SharedChanges, counter, "{change}", "Changes that shared values have heard of."},
	{semconv.SharedRereads, counter, "{read}", "Reads of shared values after an interruption."},
	{semconv.SharedUndecodable, counter, "{value}", "Data that was no value of the type of a shared value."},
	{semconv.BarrierWaitDuration, histogram(lockBuckets), "s", "Duration of waits at barriers, whatever their outcome."},
}

func histogram(buckets []float64) kind {
	return func(m *metrics, i instrument) (err error) {
		m.histograms[i.name], err = m.meter.Float64Histogram(i.name, metric.WithUnit(i.unit),
			metric.WithDescription(i.description),
			metric.WithExplicitBucketBoundaries(buckets...))
		return err
	}
}

func counter(m *metrics, i instrument) (err error) {
	m.counters[i.name], err = m.meter.Int64Counter(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description))
	return err
}

func observedCounter(m *metrics, i instrument) (err error) {
	m.observed[i.name], err = m.meter.Int64ObservableCounter(i.name, metric.WithUnit(i.unit),
		metric.WithDescription(i.description))
	return err
}

func observedUpDown(m *metrics, i instrument) (err error) {
	m.observed[i.name], err = m.meter.Int64ObservableUpDownCounter(i.name, metric.WithUnit(i.unit),
		metric.WithDescription(i.description))
	return err
}

func observedGauge(m *metrics, i instrument) (err error) {
	m.observed[i.name], err = m.meter.Int64ObservableGauge(i.name, metric.WithUnit(i.unit),
		metric.WithDescription(i.description))
	return err
}

func observedSeconds(m *metrics, i instrument) (err error) {
	m.observedSeconds[i.name], err = m.meter.Float64ObservableGauge(i.name,
		metric.WithUnit(i.unit), metric.WithDescription(i.description))
	return err
}

// newMetrics makes all instruments.
func newMetrics(meter metric.Meter) *metrics {
	m := &metrics{
		meter:      meter,
		histograms: map[string]metric.Float64Histogram{}, counters: map[string]metric.Int64Counter{},
		observed: map[string]metric.Int64Observable{}, observedSeconds: map[string]metric.Float64Observable{},
	}
	var all error
	for _, i := range instruments {
		all = errors.Join(all, i.kind(m, i))
	}
	if all != nil {
		otel.Handle(all)
	}
	return m
}

// count adds to a counter.
func (m *metrics) count(name string, n int, attrs ...attribute.KeyValue) {
	m.counters[name].Add(context.Background(), int64(n), metric.WithAttributes(attrs...))
}

// observe registers the callback for the instruments that are read only when
// the metrics are collected.
func (m *metrics) observe(callback metric.Callback) error {
	var all []metric.Observable
	for _, i := range m.observed {
		all = append(all, i)
	}
	for _, i := range m.observedSeconds {
		all = append(all, i)
	}
	_, err := m.meter.RegisterCallback(callback, all...)
	return err
}

// observeCounts reports the counts of locks.
func (m *metrics) observeCounts(o metric.Observer) {
	for _, p := range m.locks.byPoint.Range {
		point := p.(*series)
		for i := range point.counts {
			if c := &point.counts[i]; c.changed.Load() {
				o.ObserveInt64(m.observed[countNames[i]], c.value.Load(), point.observe...)
			}
		}
	}
}
