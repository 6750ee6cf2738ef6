package tracing

import (
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/cache"
)

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

// observeCaches reports the state of all caches, once there has been a cache.
func (t *tracer) observeCaches(o metric.Observer) {
	nodes, resyncs, behind, lag, some := t.cacheTotals()
	if !some {
		return
	}
	observed := t.metrics.observed
	o.ObserveInt64(observed[semconv.CacheNodes], nodes)
	o.ObserveInt64(observed[semconv.CacheResyncs], resyncs)
	o.ObserveInt64(observed[semconv.CacheTransactions], behind)
	o.ObserveFloat64(t.metrics.observedSeconds[semconv.CacheLagDuration], lag.Seconds())
}

// cacheTotals returns the sums of nodes and resyncs, the largest lags, and whether there
// has ever been a cache.
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
