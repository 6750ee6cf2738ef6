//go:build real

package tracing_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// BenchmarkUncontended compares an acquire and release of the mutex with
// tracing and metrics to one without. It does so at a server with ZooKeeper's
// defaults, at one that does not wait for its disk, at an ensemble, and at the
// in-memory fake. The figure to read is the ratio of the medians:
//
//   - traced: spans and metrics, as in production
//   - sdk: the part of OpenTelemetry itself, that is, the cost of the same
//     spans and measurements without this package
//   - unsampled: a sampler that takes no trace
//   - operations: traced, with the spans of operations as well
func BenchmarkUncontended(b *testing.B) {
	// ZooKeeper's default; zkserver's is no
	durable := zkserver.WithProperty("forceSync", "yes")
	tcp := (&net.Dialer{}).DialContext
	b.Run("server=zookeeper", func(b *testing.B) {
		uncontended(b, zkserver.Start(b, durable).Addr(), tcp)
	})
	b.Run("server=zookeeper-nosync", func(b *testing.B) {
		uncontended(b, zkserver.Start(b).Addr(), tcp)
	})
	b.Run("server=zookeeper-ensemble", func(b *testing.B) {
		leader, err := zkserver.StartEnsemble(b, 3, durable).WaitLeader(b.Context())
		require.NoError(b, err)
		// The same server for all, since followers take longer.
		uncontended(b, leader.Addr(), tcp)
	})
	b.Run("server=zktest-memory", func(b *testing.B) {
		srv := zktest.Start(b)
		uncontended(b, srv.Addr(), srv.Dialer())
	})
}

// batch is how many cycles of one kind run in a row. The kinds take turns, so
// that all see the same state of the server. They do not alternate after each
// cycle, because no program runs with tracing and without it in turn.
const batch = 20

func uncontended(b *testing.B, addr string, dial framework.DialFunc) {
	mutex := func(tracer clienttrace.Hook) *locks.InterProcessMutex {
		opts := []framework.Option{framework.WithDialer(dial)}
		if tracer != nil {
			opts = append(opts, framework.WithHooks(tracer))
		}
		c, err := framework.New(addr, opts...)
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		return locks.NewInterProcessMutex(c, "/bench/mutex", locks.WithName("bench"))
	}
	names := []string{"untraced", "traced", "sdk", "unsampled", "operations"}
	all := []func(){
		cycle(b, mutex(nil)),
		cycle(b, mutex(newProviders(b).tracer())),
		sdkCycle(b, mutex(nil), newProviders(b)),
		cycle(b, mutex(newProviders(b, sdktrace.WithSampler(sdktrace.NeverSample())).tracer())),
		cycle(b, mutex(newProviders(b).tracer(tracing.WithOperations(nil)))),
	}
	for range 2000 { // The server's virtual machine compiles on the way.
		for _, one := range all {
			one()
		}
	}
	times := make([][]time.Duration, len(all))
	for n := 0; b.Loop(); n++ {
		for i := range all {
			// A kind does not always follow the same other kind.
			i = (i + n) % len(all)
			for range batch {
				start := time.Now()
				all[i]()
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	b.ReportMetric(0, "ns/op") // the total of all kinds, which means nothing
	base := median(times[0])
	b.ReportMetric(base, "untraced-ns")
	b.ReportMetric(testing.AllocsPerRun(100, all[0]), "untraced-allocs")
	for i := 1; i < len(all); i++ {
		b.ReportMetric(median(times[i])/base, names[i]+"/untraced")
		b.ReportMetric(testing.AllocsPerRun(100, all[i]), names[i]+"-allocs")
	}
}

func median(sorted []time.Duration) float64 { return float64(sorted[len(sorted)/2]) }

// cycle returns a function that acquires and releases a mutex once.
func cycle(b *testing.B, m *locks.InterProcessMutex) func() {
	ctx := context.Background()
	return func() {
		lease, err := m.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// sdkCycle returns a cycle that makes the spans, events, attributes and
// measurements of a hook by OpenTelemetry's API alone. The spans have as many
// attributes as those of a hook, with shorter values.
func sdkCycle(b *testing.B, m *locks.InterProcessMutex, o *providers) func() {
	tracer, meter := o.spans.Tracer("bench"), o.metrics.Meter("bench")
	histogram := func(name string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name)
		require.NoError(b, err)
		return h
	}
	acquires, holds, operations := histogram("acquire"), histogram("hold"), histogram("operation")
	text := func(keys ...string) (attrs []attribute.KeyValue) {
		for _, key := range keys {
			attrs = append(attrs, attribute.String(key, "x"))
		}
		return attrs
	}
	about, place, outcome := text("a", "b", "c", "d"), text("e", "f", "g", "h"), text("i", "j", "k", "l")
	held, end := text("a", "b", "c", "d", "e", "f"), text("g")
	on := metric.WithAttributeSet(attribute.NewSet(text("a", "b", "c", "d")...))
	ctx := context.Background()
	return func() {
		start := time.Now()
		during, acquire := tracer.Start(ctx, "acquire", trace.WithAttributes(about...))
		lease, err := m.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		operations.Record(during, time.Since(start).Seconds(), on)
		acquire.AddEvent("enqueued", trace.WithAttributes(place...))
		acquire.AddEvent("granted")
		acquire.SetAttributes(outcome...)
		acquire.End()
		acquires.Record(during, time.Since(start).Seconds(), on)

		start = time.Now()
		under, hold := tracer.Start(during, "hold", trace.WithAttributes(held...))
		if err := lease.Release(ctx); err != nil {
			b.Fatal(err)
		}
		operations.Record(during, time.Since(start).Seconds(), on)
		hold.SetAttributes(end...)
		hold.End()
		holds.Record(under, time.Since(start).Seconds(), on)
	}
}

// providers are those of a production program, except that their exporters
// discard everything.
type providers struct {
	spans   *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
}

func newProviders(b *testing.B, opts ...sdktrace.TracerProviderOption) *providers {
	batcher := sdktrace.WithBatcher(tracetest.NewNoopExporter())
	reader := sdkmetric.NewPeriodicReader(discardMetrics{})
	o := &providers{
		spans:   sdktrace.NewTracerProvider(append(opts, batcher)...),
		metrics: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	}
	b.Cleanup(func() {
		require.NoError(b, o.spans.Shutdown(context.Background()))
		require.NoError(b, o.metrics.Shutdown(context.Background()))
	})
	return o
}

func (o *providers) tracer(opts ...tracing.Option) clienttrace.Hook {
	opts = append(opts, tracing.WithTracerProvider(o.spans), tracing.WithMeterProvider(o.metrics))
	return tracing.New(opts...)
}

// discardMetrics is a metric exporter that exports nothing.
type discardMetrics struct{}

func (discardMetrics) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

func (discardMetrics) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (discardMetrics) Export(context.Context, *metricdata.ResourceMetrics) error { return nil }
func (discardMetrics) ForceFlush(context.Context) error                          { return nil }
func (discardMetrics) Shutdown(context.Context) error                            { return nil }
