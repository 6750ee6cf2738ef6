package tracing

import (
	"log/slog"
	"reflect"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
)

// Option configures the hook of [New]. The package comment groups the options by purpose.
// If an option is nil or has an invalid value, framework.New returns an error.
type Option func(*config)

type config struct {
	tracerProvider trace.TracerProvider
	meterProvider  metric.MeterProvider
	propagator     propagation.TextMapPropagator
	operations     func(clienttrace.Operation) bool // nil: no spans of operations
	slowWait       time.Duration                    // 0: no reports
	slowHold       time.Duration                    // 0: no reports
	logger         *slog.Logger                     // nil: slog.Default
	noTraceIDs     bool
	err            error // the error of the first invalid option
}

func newConfig(opts []Option) config {
	c := config{propagator: propagation.TraceContext{}}
	for _, opt := range opts {
		if opt == nil {
			c.reject("option", "nil", "must not be nil")
			continue
		}
		opt(&c)
	}
	if c.tracerProvider == nil {
		c.tracerProvider = otel.GetTracerProvider()
	}
	if c.meterProvider == nil {
		c.meterProvider = otel.GetMeterProvider()
	}
	return c
}

// reject records the error of an invalid option. Only the first error is kept.
func (c *config) reject(name, value, reason string) {
	if c.err == nil {
		c.err = &framework.ConfigError{Name: name, Value: value, Reason: reason}
	}
}

// accept reports whether an option has a value, and rejects the option otherwise. The
// argument instead says what happens when the option is left out.
func (c *config) accept(name string, value any, instead string) bool {
	if isNil(value) {
		c.reject(name, "nil", "must not be nil; leave the option out for "+instead)
		return false
	}
	return true
}

// isNil reports whether v is nil or an interface with a nil pointer, whose methods would
// panic.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// acceptDuration is accept for the threshold of a report.
func (c *config) acceptDuration(name string, d time.Duration) bool {
	if d < 0 {
		c.reject(name, d.String(), "must not be negative; 0 makes no reports")
		return false
	}
	return true
}

// WithTracerProvider sets the provider to which spans are sent. The default is
// OpenTelemetry's global provider at the time of New.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if c.accept("tracer provider", p, "the global one") {
			c.tracerProvider = p
		}
	}
}

// WithMeterProvider sets the provider to which metrics are sent. The default is
// OpenTelemetry's global provider at the time of New.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if c.accept("meter provider", p, "the global one") {
			c.meterProvider = p
		}
	}
}

// WithPropagators sets how the data of a contender's node describes its trace,
// so that other processes can link to it. All processes that share a lock
// should use the same propagators.
//
// The default is W3C Trace Context, not the global propagator. The global propagator
// often includes baggage, which every client that may read the lock's nodes would then
// see. Set a propagator here to include baggage in the nodes.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) {
		if c.accept("propagators", p, "W3C Trace Context") {
			c.propagator = p
		}
	}
}

// WithoutTraceIDs keeps trace ids and baggage out of the data of nodes. Other processes
// then cannot link to the traces of this process. This process still links to their
// traces.
func WithoutTraceIDs() Option {
	return func(c *config) { c.noTraceIDs = true }
}

// WithOperations makes a span for each ZooKeeper operation for which wanted
// returns true. If wanted is nil, every operation has a span.
//
// By default no operation has a span, because a lock sends many similar requests. The
// metric db.client.operation.duration always has their durations. A lock that has been
// held for a second sends requests in the background. The span of such a request has no
// parent and forms a separate trace.
func WithOperations(wanted func(clienttrace.Operation) bool) Option {
	return func(c *config) {
		c.operations = wanted
		if wanted == nil {
			c.operations = func(clienttrace.Operation) bool { return true }
		}
	}
}

// WithSlowWait reports an acquire that has waited for d, once, by a log line and an event
// of its span. A wait for leadership is not reported. The default, 0, disables the
// reports. A report has:
//
//   - the holder, and how long the holder's node has existed;
//   - the predecessor, which is the contender right ahead;
//   - the stack of the acquire;
//   - the stack of the holder's acquire, if the holder is in this process.
//
// The holder is the last holder that the acquire saw. It may have changed since, because
// a waiter is not woken when the lock passes between two contenders ahead of it. The
// predecessor is up to date.
func WithSlowWait(d time.Duration) Option {
	return func(c *config) {
		if c.acceptDuration("slow wait", d) {
			c.slowWait = d
		}
	}
}

// WithSlowHold reports a lock that has been held for d, once, by a log line and an event
// of its span. The report has the stack of the acquire. A leadership is not reported. The
// default, 0, disables the reports.
func WithSlowHold(d time.Duration) Option {
	return func(c *config) {
		if c.acceptDuration("slow hold", d) {
			c.slowHold = d
		}
	}
}

// WithLogger sets the logger for the reports of WithSlowWait and WithSlowHold.
// The default is slog.Default.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) {
		switch {
		case !c.accept("logger", l, "slog.Default"):
		case l.Handler() == nil: // the zero Logger, which panics
			c.reject("logger", "", "must have a handler")
		default:
			c.logger = l
		}
	}
}
