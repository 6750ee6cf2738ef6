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

// Option configures the hook of [New]. An option that is nil or has an
// impossible value is an error of framework.New.
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
	err            error // the first option that cannot be used
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

// reject notes an option that cannot be used. The first one counts.
func (c *config) reject(name, value, reason string) {
	if c.err == nil {
		c.err = &framework.ConfigError{Name: name, Value: value, Reason: reason}
	}
}

// accept reports whether an option has a value. Without one it is rejected;
// instead says what leaving the option out means.
func (c *config) accept(name string, value any, instead string) bool {
	if isNil(value) {
		c.reject(name, "nil", "must not be nil; leave the option out for "+instead)
		return false
	}
	return true
}

// isNil reports whether v is nil or a nil pointer in an interface, whose
// methods would panic.
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

// WithTracerProvider sets the provider that spans go to. The default is
// OpenTelemetry's global provider, as it is when New is called.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) {
		if c.accept("tracer provider", p, "the global one") {
			c.tracerProvider = p
		}
	}
}

// WithMeterProvider sets the provider that metrics go to. The default is
// OpenTelemetry's global provider, as it is when New is called.
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
// The default is W3C Trace Context, and not the global propagator. The global
// one often includes baggage, and everybody who may read the lock's nodes would
// then see it. Set a propagator here to have baggage in the nodes.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) {
		if c.accept("propagators", p, "W3C Trace Context") {
			c.propagator = p
		}
	}
}

// WithoutTraceIDs keeps trace ids and baggage out of the data of nodes. Other
// processes then cannot link to the traces of this process. This process still
// links to theirs.
func WithoutTraceIDs() Option {
	return func(c *config) { c.noTraceIDs = true }
}

// WithOperations makes a span for each ZooKeeper operation for which wanted
// returns true. If wanted is nil, every operation has a span.
//
// By default no operation has a span, because the requests of a lock are many
// and alike. Their durations are in the metric db.client.operation.duration in
// any case. A lock that has been held for a second sends requests in the
// background. The span of such a request has no parent and is a trace of its
// own.
func WithOperations(wanted func(clienttrace.Operation) bool) Option {
	return func(c *config) {
		c.operations = wanted
		if wanted == nil {
			c.operations = func(clienttrace.Operation) bool { return true }
		}
	}
}

// WithSlowWait reports an acquire that has waited for d, once, by a log line
// and an event of its span. A wait for leadership is not reported. The default,
// 0, makes no reports. A report has:
//
//   - the holder, and how long the holder's node has existed;
//   - the predecessor, which is the contender right ahead;
//   - the stack of the acquire;
//   - the stack of the holder's acquire, if the holder is in this process.
//
// The holder is the last holder that the acquire saw. It may have changed since
// then, because a waiter is not woken when the lock passes from one contender
// ahead of it to another. The predecessor is up to date.
func WithSlowWait(d time.Duration) Option {
	return func(c *config) {
		if c.acceptDuration("slow wait", d) {
			c.slowWait = d
		}
	}
}

// WithSlowHold reports a lock that has been held for d, once, by a log line and
// an event of its span. The report has the stack of the acquire. A leadership
// is not reported. The default, 0, makes no reports.
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
