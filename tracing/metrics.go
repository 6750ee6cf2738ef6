package tracing

import (
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
)

// Boundaries of histograms, in seconds.
var (
	// From an uncontended acquire to a wait that people complain about, or to a
	// long job under a lock.
	lockBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

	// A hand-over takes about a round trip to the server.
	handOffBuckets = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}

	// The boundaries that the semantic conventions for databases recommend.
	operationBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}
)

// metrics has all instruments. OpenTelemetry's error handler is told of an
// instrument that cannot be made; that instrument then does nothing.
type metrics struct {
	meter      metric.Meter
	locks      seriesSet[lockPoint]
	operations seriesSet[operationPoint]

	acquireDuration, holdDuration, handOffDuration, operationDuration metric.Float64Histogram
	reconnects, expiries                                              metric.Int64Counter
	sessions, watches                                                 metric.Int64ObservableUpDownCounter
	counts                                                            [numCounts]metric.Int64Observable
}

// instrument describes a metric. TELEMETRY.md lists them all.
type instrument struct{ name, kind, unit, description string }

var instruments = []instrument{
	{semconv.AcquireDuration, "histogram", "s", "Duration of acquires, whatever their outcome."},
	{semconv.HoldDuration, "histogram", "s", "Time for which locks were held."},
	{semconv.HandOffDuration, "histogram", "s", "Time from learning that the predecessor left to the grant."},
	{semconv.Waiters, "updowncounter", "{acquire}", "Acquires under way."},
	{semconv.Holders, "updowncounter", "{hold}", "Locks held."},
	{semconv.Acquisitions, "counter", "{acquire}", "Acquires that have ended."},
	{semconv.Losses, "counter", "{hold}", "Locks that were lost while they were held."},
	{semconv.Overruns, "counter", "{term}", "Leaderships whose work was reported to go on after their end."},
	{semconv.Sessions, "updowncounter", "{client}", "Clients by the state of their session."},
	{semconv.Reconnects, "counter", "{connection}", "Connections that were restored."},
	{semconv.Expiries, "counter", "{session}", "Sessions that were lost."},
	{semconv.Watches, "updowncounter", "{watch}", "Watches that clients have set at the servers."},
	{semconv.OperationDuration, "histogram", "s", "Duration of database client operations."},
}

// observe registers the callback for the instruments that are read only when
// the metrics are collected.
func (m *metrics) observe(callback metric.Callback) error {
	observables := []metric.Observable{m.sessions, m.watches}
	for _, c := range m.counts {
		observables = append(observables, c)
	}
	_, err := m.meter.RegisterCallback(callback, observables...)
	return err
}

// observeCounts reports the counts of locks.
func (m *metrics) observeCounts(o metric.Observer) {
	for _, p := range m.locks.byPoint.Range {
		point := p.(*series)
		for i := range point.counts {
			if c := &point.counts[i]; c.changed.Load() {
				o.ObserveInt64(m.counts[i], c.value.Load(), point.observe...)
			}
		}
	}
}

func newMetrics(meter metric.Meter) *metrics {
	m := &metrics{meter: meter}
	var failed error
	descriptions := map[string]instrument{}
	for _, i := range instruments {
		descriptions[i.name] = i
	}
	histogram := func(name string, buckets []float64) metric.Float64Histogram {
		d := descriptions[name]
		h, err := meter.Float64Histogram(name, metric.WithUnit(d.unit), metric.WithDescription(d.description),
			metric.WithExplicitBucketBoundaries(buckets...))
		failed = errors.Join(failed, err)
		return h
	}
	counter := func(name string) metric.Int64Counter {
		d := descriptions[name]
		c, err := meter.Int64Counter(name, metric.WithUnit(d.unit), metric.WithDescription(d.description))
		failed = errors.Join(failed, err)
		return c
	}
	observableCounter := func(name string) metric.Int64ObservableCounter {
		d := descriptions[name]
		c, err := meter.Int64ObservableCounter(name,
			metric.WithUnit(d.unit), metric.WithDescription(d.description))
		failed = errors.Join(failed, err)
		return c
	}
	observableUpDown := func(name string) metric.Int64ObservableUpDownCounter {
		d := descriptions[name]
		c, err := meter.Int64ObservableUpDownCounter(name,
			metric.WithUnit(d.unit), metric.WithDescription(d.description))
		failed = errors.Join(failed, err)
		return c
	}
	m.acquireDuration = histogram(semconv.AcquireDuration, lockBuckets)
	m.holdDuration = histogram(semconv.HoldDuration, lockBuckets)
	m.handOffDuration = histogram(semconv.HandOffDuration, handOffBuckets)
	m.operationDuration = histogram(semconv.OperationDuration, operationBuckets)
	m.counts = [numCounts]metric.Int64Observable{
		waiters:      observableUpDown(semconv.Waiters),
		holders:      observableUpDown(semconv.Holders),
		acquisitions: observableCounter(semconv.Acquisitions),
		losses:       observableCounter(semconv.Losses),
		overruns:     observableCounter(semconv.Overruns),
	}
	m.reconnects, m.expiries = counter(semconv.Reconnects), counter(semconv.Expiries)
	m.sessions, m.watches = observableUpDown(semconv.Sessions), observableUpDown(semconv.Watches)
	if failed != nil {
		otel.Handle(failed)
	}
	return m
}
