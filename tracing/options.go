package tracing

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
)

// Option configures a Tracer.
type Option func(*config)

type config struct {
	tracerProvider trace.TracerProvider // nil for the global one
	meterProvider  metric.MeterProvider // nil for the global one
	propagator     propagation.TextMapPropagator
	operations     func(framework.Operation) bool // nil for no spans of operations
	slowWait       time.Duration                  // 0 for no reports
	slowHold       time.Duration                  // 0 for no reports
	logger         *slog.Logger                   // nil for slog.Default
	noTraceIDs     bool
}

// WithTracerProvider sets where spans go. The default is the global provider.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) { c.tracerProvider = p }
}

// WithMeterProvider sets where metrics go. The default is the global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) { c.meterProvider = p }
}

// WithPropagators sets how a trace is described in the data of nodes, for others to link to. All who share locks should
// agree. The default is the W3C's trace context, and not the global propagator: that often has baggage in it, which would
// become known to everybody who may read the lock's nodes. To have it there, ask for it here.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) { c.propagator = p }
}

// WithoutTraceIDs keeps everything about traces out of the data of nodes. Waiters then cannot link to this process's
// traces; it still links to theirs.
func WithoutTraceIDs() Option {
	return func(c *config) { c.noTraceIDs = true }
}

// WithOperations makes a span for each operation that wanted accepts, and for every operation if it is nil. By default
// there are none, because the requests of a lock are many and alike; their duration is a metric in any case. What a
// held lock asks in the background, once it is held for a second, is in no span of a caller's: each is a trace of its own.
func WithOperations(wanted func(framework.Operation) bool) Option {
	return func(c *config) {
		c.operations = wanted
		if wanted == nil {
			c.operations = func(framework.Operation) bool { return true }
		}
	}
}

// WithSlowWait makes a report, which is a log line and an event, when an acquire has waited for d: who holds the lock, for
// how long its node has been there, who is right ahead, and the stack of the acquire. If the holder is in this process, it
// has the stack of the holder's acquire, too. The holder is the one that was seen last: a waiter is not woken when the lock
// passes on to somebody ahead of it. Who is right ahead is there still. By default there are no reports.
func WithSlowWait(d time.Duration) Option {
	return func(c *config) { c.slowWait = d }
}

// WithSlowHold makes a report when a lock has been held for d, with the stack of its acquire. By default there are none.
func WithSlowHold(d time.Duration) Option {
	return func(c *config) { c.slowHold = d }
}

// WithLogger sets where reports go; see WithSlowWait and WithSlowHold. The default is slog.Default.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.logger = l }
}
