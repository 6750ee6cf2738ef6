package tracing

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/cache"
)

// cacheMetrics has the instruments of caches, which are read only when the
// metrics are collected.
type cacheMetrics struct {
	nodes        metric.Int64ObservableUpDownCounter
	lag          metric.Float64ObservableGauge
	transactions metric.Int64ObservableGauge
	resyncs      metric.Int64ObservableCounter
}

func newCacheMetrics(b *builder) cacheMetrics {
	m := cacheMetrics{
		nodes:   b.observableUpDown(semconv.CacheNodes),
		resyncs: b.observableCounter(semconv.CacheResyncs),
	}
	i := b.byName[semconv.CacheLagDuration]
	var lag, transactions error
	m.lag, lag = b.meter.Float64ObservableGauge(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description))
	i = b.byName[semconv.CacheTransactions]
	m.transactions, transactions = b.meter.Int64ObservableGauge(i.name, metric.WithUnit(i.unit), metric.WithDescription(i.description))
	b.err = errors.Join(b.err, lag, transactions)
	return m
}

func (m cacheMetrics) observables() []metric.Observable {
	return []metric.Observable{m.nodes, m.lag, m.transactions, m.resyncs}
}

// CacheOpened implements the hook.
func (t *tracer) CacheOpened(c *cache.Cache) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caches[c], t.cached = true, true
}

// CacheClosed implements the hook.
func (t *tracer) CacheClosed(c *cache.Cache) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.caches[c] {
		delete(t.caches, c)
		t.resyncs += c.Stats().Resyncs
	}
}

// observeCaches reports how all caches do, once there was one.
func (t *tracer) observeCaches(o metric.Observer) {
	nodes, resyncs, behind, lag, some := t.cacheTotals()
	if !some {
		return
	}
	m := t.metrics.caches
	o.ObserveInt64(m.nodes, nodes)
	o.ObserveInt64(m.resyncs, resyncs)
	o.ObserveInt64(m.transactions, behind)
	o.ObserveFloat64(m.lag, lag.Seconds())
}

// cacheTotals returns the sums of nodes and resyncs, the largest lags, and
// whether there ever was a cache.
func (t *tracer) cacheTotals() (nodes, resyncs, behind int64, lag time.Duration, some bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	resyncs = t.resyncs
	for c := range t.caches {
		s := c.Stats()
		nodes += int64(s.Nodes)
		resyncs += s.Resyncs
		behind = max(behind, s.Behind)
		lag = max(lag, s.Lag)
	}
	return nodes, resyncs, behind, lag, t.cached
}
