package tracing

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	conventions "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// ScopeName is the name of the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/gocurator/curator/tracing"

// Tracer makes spans and metrics of what clients and recipes tell it. It may serve several clients. Make one, and not one for each client:
// it has nothing to close, and lives as long as its providers. What it knows of a client it forgets when that is closed.
type Tracer struct {
	cfg     config
	spans   trace.Tracer
	metrics *metrics

	mu       sync.Mutex // protects the following fields
	clients  map[*framework.Client]bool
	acquires openSpans
	holds    openSpans // on their own, as they are few where those who wait are many
}

var (
	_ framework.Tracer = (*Tracer)(nil)
	_ recipes.Tracer   = (*Tracer)(nil)
)

// New returns a Tracer for framework.WithTracer.
func New(opts ...Option) *Tracer {
	cfg := config{}
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	if cfg.propagator == nil {
		cfg.propagator = propagation.TraceContext{}
	}
	if cfg.tracerProvider == nil {
		cfg.tracerProvider = otel.GetTracerProvider()
	}
	if cfg.meterProvider == nil {
		cfg.meterProvider = otel.GetMeterProvider()
	}
	t := &Tracer{
		cfg:     cfg,
		clients: map[*framework.Client]bool{},
		spans: cfg.tracerProvider.Tracer(ScopeName,
			trace.WithInstrumentationVersion(Version()), trace.WithSchemaURL(conventions.SchemaURL)),
		metrics: newMetrics(cfg.meterProvider.Meter(ScopeName,
			metric.WithInstrumentationVersion(Version()), metric.WithSchemaURL(conventions.SchemaURL))),
	}
	if err := t.metrics.observe(t.observe); err != nil {
		otel.Handle(err)
	}
	return t
}

// Version returns the version of the instrumentation scope: that of this module, as the executable was built with it.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	const module = "github.com/gocurator/curator"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "unknown"
})

// logger returns where reports go. slog.Default may change.
func (t *Tracer) logger() *slog.Logger {
	if t.cfg.logger != nil {
		return t.cfg.logger
	}
	return slog.Default()
}

// describe returns what others need to link to the span of ctx.
func (t *Tracer) traceFields(ctx context.Context) map[string]string {
	if t.cfg.noTraceIDs || !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	carrier := propagation.MapCarrier{}
	t.cfg.propagator.Inject(ctx, carrier)
	return carrier
}

// spanOf returns the span to which another contender's node leads.
func (t *Tracer) spanOf(id recipes.Identity) trace.SpanContext {
	if len(id.Trace) == 0 {
		return trace.SpanContext{}
	}
	ctx := t.cfg.propagator.Extract(context.Background(), propagation.MapCarrier(id.Trace))
	return trace.SpanContextFromContext(ctx)
}
