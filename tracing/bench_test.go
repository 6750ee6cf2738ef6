package tracing_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zkserver"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// BenchmarkUncontended compares one acquire and release of the mutex with tracing and metrics, and with spans of
// operations as well, to one without. They take turns, so that all see the same server at the same time; what counts is
// the ratio of the medians, and that of the fastest tenth, which a busy machine disturbs less.
func BenchmarkUncontended(b *testing.B) {
	b.Run("server=zookeeper", func(b *testing.B) {
		uncontended(b, zkserver.Start(b).Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-memory", func(b *testing.B) {
		srv := zktest.New(b)
		uncontended(b, srv.Addr(), srv.Dialer())
	})
}

func uncontended(b *testing.B, addr string, dial framework.DialFunc) {
	without := cycle(b, addr, dial)
	with := cycle(b, addr, dial, framework.WithTracer(batching(b)))
	operations := cycle(b, addr, dial, framework.WithTracer(batching(b, tracing.WithOperations(nil))))
	all := []func(){without, with, operations}
	times := make([][]time.Duration, len(all))
	for range 3000 { // a server's virtual machine compiles on the way
		for _, one := range all {
			one()
		}
	}
	for n := 0; b.Loop(); n++ {
		for i := range all {
			i = (i + n) % len(all) // or one would always come after the same other
			start := time.Now()
			all[i]()
			times[i] = append(times[i], time.Since(start))
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	base := at(times[0], 0.5)
	b.ReportMetric(0, "ns/op") // of all three, which means nothing
	b.ReportMetric(base, "untraced-ns")
	b.ReportMetric(at(times[1], 0.5)/base, "traced/untraced")
	b.ReportMetric(at(times[1], 0.1)/at(times[0], 0.1), "traced/untraced-p10")
	b.ReportMetric(at(times[2], 0.5)/base, "operations/untraced")
	b.ReportMetric(testing.AllocsPerRun(100, without), "untraced-allocs")
	b.ReportMetric(testing.AllocsPerRun(100, with), "traced-allocs")
}

// at returns a quantile, in nanoseconds.
func at(sorted []time.Duration, q float64) float64 {
	return float64(sorted[int(q*float64(len(sorted)))])
}

// cycle returns a function that acquires and releases a mutex once.
func cycle(b *testing.B, addr string, dial framework.DialFunc, opts ...framework.Option) func() {
	c, err := framework.New(addr, append(opts, framework.WithDialer(dial))...)
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	m := recipes.NewInterProcessMutex(c, "/bench/mutex", recipes.WithName("bench"))
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

// batching returns a Tracer with the exporters of production, but for the place to which they export.
func batching(b *testing.B, opts ...tracing.Option) *tracing.Tracer {
	spans := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()))
	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(nowhere{})))
	b.Cleanup(func() {
		require.NoError(b, spans.Shutdown(context.Background()))
		require.NoError(b, metrics.Shutdown(context.Background()))
	})
	return tracing.New(append([]tracing.Option{tracing.WithTracerProvider(spans), tracing.WithMeterProvider(metrics)}, opts...)...)
}

// nowhere is where the metrics of benchmarks go.
type nowhere struct{}

func (nowhere) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

func (nowhere) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (nowhere) Export(context.Context, *metricdata.ResourceMetrics) error { return nil }
func (nowhere) ForceFlush(context.Context) error                          { return nil }
func (nowhere) Shutdown(context.Context) error                            { return nil }
