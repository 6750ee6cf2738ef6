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
	nodes                                                             nodeMetrics
	caches                                                            cacheMetrics
	values                                                            valueMetrics
	barriers                                                          barrierMetrics
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
	{semconv.NodeRegistrations, "counter", "{registration}", "Persistent nodes that were registered, for the first time or again."},
	{semconv.NodeLosses, "counter", "{registration}", "Persistent nodes that were lost while they were registered."},
	{semconv.NodeConflicts, "counter", "{conflict}", "Nodes of others in the way of persistent nodes."},
	{semconv.NodesMissing, "updowncounter", "{registration}", "Persistent nodes that are not registered now."},
	{semconv.CacheNodes, "updowncounter", "{node}", "Nodes in caches."},
	{semconv.CacheLagDuration, "gauge", "s", "Time for which a cache has been behind: the longest of all caches."},
	{semconv.CacheTransactions, "gauge", "{transaction}", "Transactions by which a cache is behind: the most of all caches."},
	{semconv.CacheResyncs, "counter", "{resync}", "Caches that have read everything again."},
	{semconv.AtomicWrites, "counter", "{write}", "Writes of atomic numbers and values, by their outcome."},
	{semconv.AtomicPromotions, "counter", "{promotion}", "Writes of atomic numbers and values that went on under a lock."},
	{semconv.SharedChanges, "counter", "{change}", "Changes that shared values have heard of."},
	{semconv.SharedRereads, "counter", "{read}", "Reads of shared values after an interruption."},
	{semconv.SharedUndecodable, "counter", "{value}", "Data that was no value of the type of a shared value."},
	{semconv.BarrierWaitDuration, "histogram", "s", "Duration of waits at barriers, whatever their outcome."},
	{semconv.BarrierMembersLost, "counter", "{member}", "Losses that members of double barriers have noticed."},
}

// observe registers the callback for the instruments that are read only when
// the metrics are collected.
func (m *metrics) observe(callback metric.Callback) error {
	observables := append(m.caches.observables(), m.nodes.missing, m.sessions, m.watches)
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

// newMetrics makes all instruments. They are exported in the order in which they
// are made.
func newMetrics(meter metric.Meter) *metrics {
	b := newBuilder(meter)
	m := &metrics{
		meter:             meter,
		acquireDuration:   b.histogram(semconv.AcquireDuration, lockBuckets),
		holdDuration:      b.histogram(semconv.HoldDuration, lockBuckets),
		handOffDuration:   b.histogram(semconv.HandOffDuration, handOffBuckets),
		operationDuration: b.histogram(semconv.OperationDuration, operationBuckets),
		counts: [numCounts]metric.Int64Observable{
			waiters:      b.observableUpDown(semconv.Waiters),
			holders:      b.observableUpDown(semconv.Holders),
			acquisitions: b.observableCounter(semconv.Acquisitions),
			losses:       b.observableCounter(semconv.Losses),
			overruns:     b.observableCounter(semconv.Overruns),
		},
		reconnects: b.counter(semconv.Reconnects),
		expiries:   b.counter(semconv.Expiries),
		sessions:   b.observableUpDown(semconv.Sessions),
		watches:    b.observableUpDown(semconv.Watches),
		nodes:      newNodeMetrics(b),
		caches:     newCacheMetrics(b),
		values:     newValueMetrics(b),
		barriers:   newBarrierMetrics(b),
	}
	if b.err != nil {
		otel.Handle(b.err)
	}
	return m
}

// builder makes instruments by their names, and joins the errors.
type builder struct {
	meter  metric.Meter
	byName map[string]instrument
	err    error
}

func newBuilder(meter metric.Meter) *builder {
	b := &builder{meter: meter, byName: map[string]instrument{}}
	for _, i := range instruments {
		b.byName[i.name] = i
	}
	return b
}

func (b *builder) histogram(name string, buckets []float64) metric.Float64Histogram {
	i := b.byName[name]
	h, err := b.meter.Float64Histogram(name, metric.WithUnit(i.unit), metric.WithDescription(i.description),
		metric.WithExplicitBucketBoundaries(buckets...))
	b.err = errors.Join(b.err, err)
	return h
}

func (b *builder) counter(name string) metric.Int64Counter {
	i := b.byName[name]
	c, err := b.meter.Int64Counter(name, metric.WithUnit(i.unit), metric.WithDescription(i.description))
	b.err = errors.Join(b.err, err)
	return c
}

func (b *builder) observableCounter(name string) metric.Int64ObservableCounter {
	i := b.byName[name]
	c, err := b.meter.Int64ObservableCounter(name,
		metric.WithUnit(i.unit), metric.WithDescription(i.description))
	b.err = errors.Join(b.err, err)
	return c
}

func (b *builder) observableUpDown(name string) metric.Int64ObservableUpDownCounter {
	i := b.byName[name]
	c, err := b.meter.Int64ObservableUpDownCounter(name,
		metric.WithUnit(i.unit), metric.WithDescription(i.description))
	b.err = errors.Join(b.err, err)
	return c
}
