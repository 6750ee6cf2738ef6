package tracing_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// roundTrip is how long the server of a story takes to answer.
const roundTrip = time.Millisecond

// story is a scenario in virtual time. At its end it is rendered from its spans
// and metrics.
type story struct {
	*testing.T
	srv      *zktest.Server
	begin    time.Time
	services []*service
	requests []trace.Span // spans that end with the story
	names    *normalizer
	metric   string // what the names of the rendered metrics begin with
}

// service is one process of a story: a client with its own exporters.
type service struct {
	name   string
	client *framework.Client
	spans  *tracetest.SpanRecorder
	tracer trace.Tracer // for the spans of the service itself
	meter  *sdkmetric.ManualReader
	log    strings.Builder
}

// runStory runs a scenario and compares its rendering with the golden file that
// has the test's name.
func runStory(t *testing.T, scenario func(s *story)) {
	t.Helper()
	var rendered string
	synctest.Test(t, func(t *testing.T) {
		s := &story{T: t, srv: zktest.Start(t), names: newNormalizer()}
		s.srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(roundTrip)})
		s.begin = time.Now()
		scenario(s)
		synctest.Wait()
		for _, span := range s.requests {
			span.End()
		}
		rendered = s.render()
	})
	file := filepath.Join("testdata", strings.TrimPrefix(t.Name(), "Test")+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(rendered), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), rendered, "run the test with -update, and look at what has changed")
}

// service starts a service and waits until it is connected. The story's times
// count from then on.
func (s *story) service(name string, opts ...tracing.Option) *service {
	s.Helper()
	v := &service{name: name, spans: tracetest.NewSpanRecorder(), meter: sdkmetric.NewManualReader()}
	spans := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(v.spans))
	v.tracer = spans.Tracer(name)
	log := slog.New(slog.NewTextHandler(&v.log, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	c, err := framework.New(s.srv.Addr(),
		framework.WithDialer(s.srv.Dialer()),
		framework.WithSessionTimeout(9*time.Second),
		framework.WithServiceName(name),
		framework.WithHooks(tracing.New(append([]tracing.Option{
			tracing.WithTracerProvider(spans),
			tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(v.meter))),
			tracing.WithLogger(log),
		}, opts...)...)))
	require.NoError(s, err)
	s.Cleanup(func() { c.Close() })
	require.NoError(s, c.WaitConnected(s.Context()))
	v.client = c
	s.services = append(s.services, v)
	s.begin = time.Now()
	return v
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// mutex returns the lock of most stories.
func (v *service) mutex(opts ...locks.MutexOption) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(v.client, "/locks/sku-42", append(opts, locks.WithName("sku"))...)
}

// answerConnectsAt makes the server answer reconnects at a given time of the
// story, since the client's pauses between attempts are random.
func (s *story) answerConnectsAt(at time.Duration) {
	s.srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Call(func(zktest.Request) {
		time.Sleep(time.Until(s.begin.Add(at)))
	})})
}

// request returns a context with a span of the service, like the context of a request
// that the service answers.
func (s *story) request(v *service, name string) context.Context {
	ctx, span := v.tracer.Start(context.Background(), name)
	s.requests = append(s.requests, span)
	return ctx
}

// must returns the lease of an acquire that must succeed.
func (s *story) must(lease *locks.Lease, err error) *locks.Lease {
	s.Helper()
	require.NoError(s, err)
	return lease
}

// release waits and then releases a lease.
func (s *story) release(lease *locks.Lease, after time.Duration) {
	s.Helper()
	time.Sleep(after)
	require.NoError(s, lease.Release(context.Background()))
}

// inBackground runs an acquire in the background and waits until every
// goroutine is idle.
func (s *story) inBackground(ctx context.Context, acquire acquirer) <-chan *locks.Lease {
	done := make(chan *locks.Lease, 1)
	go func() {
		lease, _ := acquire(ctx)
		done <- lease
	}()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	return done
}

// render returns the spans of all services, by time, and the metrics and log of
// each.
func (s *story) render() string {
	var b strings.Builder
	type line struct {
		sdktrace.ReadOnlySpan
		service *service
	}
	var lines []line
	for _, v := range s.services {
		for _, span := range v.spans.Started() {
			require.NotZero(s, span.EndTime(), "%s: %s has not ended", v.name, span.Name())
			lines = append(lines, line{span, v})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()), cmp.Compare(a.service.name, b.service.name))
	})
	for _, l := range lines {
		s.names.nameSpan(l.service.name, l.ReadOnlySpan)
	}
	for _, l := range lines {
		s.span(&b, l.service, l.ReadOnlySpan)
	}
	for _, v := range s.services {
		s.metrics(&b, v)
		if v.log.Len() > 0 {
			fmt.Fprintf(&b, "\nlog of %s\n%s", v.name, indent(v.log.String()))
		}
	}
	return s.names.normalize(b.String())
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// at formats a time as an offset in the story.
func (s *story) at(t time.Time) string { return fmt.Sprintf("%8s", t.Sub(s.begin)) }

func (s *story) span(b *strings.Builder, v *service, span sdktrace.ReadOnlySpan) {
	took := span.EndTime().Sub(span.StartTime())
	fmt.Fprintf(b, "%s  %s: %s, takes %v", s.at(span.StartTime()), v.name, span.Name(), took)
	if parent := span.Parent(); parent.IsValid() {
		fmt.Fprintf(b, ", in %s", s.names.spans[parent.SpanID()])
	}
	b.WriteByte('\n')
	if status := span.Status(); status.Code != codes.Unset {
		fmt.Fprintf(b, "            status %s: %s\n", status.Code, status.Description)
	}
	for _, link := range span.Links() {
		to, kind := s.names.spans[link.SpanContext.SpanID()], link.Attributes[0].Value.AsString()
		fmt.Fprintf(b, "            link to %s (%s)\n", to, kind)
	}
	for _, a := range span.Attributes() {
		fmt.Fprintf(b, "            %s = %s\n", a.Key, a.Value.String())
	}
	events := slices.Clone(span.Events())
	slices.SortStableFunc(events, func(a, b sdktrace.Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(ofConnection(b), ofConnection(a)))
	})
	for _, event := range events {
		fmt.Fprintf(b, "%s      - %s%s\n", s.at(event.Time), event.Name, braced(event.Attributes))
	}
}

// ofConnection is 1 for events that the client reports, else 0. If two events have the
// same time, the client's event comes first, because the goroutines of the client and
// of the recipe may run in either order.
func ofConnection(event sdktrace.Event) int {
	if strings.HasPrefix(event.Name, "connection ") || event.Name == "session lost" {
		return 1
	}
	return 0
}

func braced(attrs []attribute.KeyValue) string {
	if len(attrs) == 0 {
		return ""
	}
	var all []string
	for _, a := range attrs {
		all = append(all, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	return " {" + strings.Join(all, ", ") + "}"
}

func (s *story) metrics(b *strings.Builder, v *service) {
	fmt.Fprintf(b, "\nmetrics of %s\n", v.name)
	var all metricdata.ResourceMetrics
	require.NoError(s, v.meter.Collect(context.Background(), &all))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if !strings.HasPrefix(m.Name, s.metric) {
				continue
			}
			for _, point := range slices.Sorted(slices.Values(pointsOf(s, m))) {
				fmt.Fprintf(b, "  %s [%s]%s\n", m.Name, m.Unit, point)
			}
		}
	}
}

func pointsOf(t require.TestingT, m metricdata.Metrics) (points []string) {
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			sum := time.Duration(p.Sum * float64(time.Second)).Round(time.Microsecond)
			attrs := braced(p.Attributes.ToSlice())
			points = append(points, fmt.Sprintf("%s: %d in all %v", attrs, p.Count, sum))
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			points = append(points, fmt.Sprintf("%s: %d", braced(p.Attributes.ToSlice()), p.Value))
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			points = append(points, fmt.Sprintf("%s: %d", braced(p.Attributes.ToSlice()), p.Value))
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			points = append(points, fmt.Sprintf("%s: %v", braced(p.Attributes.ToSlice()), p.Value))
		}
	default:
		require.Failf(t, "unknown kind of metric", "%s: %T", m.Name, data)
	}
	return points
}

// normalizer replaces everything that differs from one run to the next.
type normalizer struct {
	spans    map[trace.SpanID]string
	names    map[string]int
	sessions map[string]string
}

func newNormalizer() *normalizer {
	return &normalizer{
		spans:    map[trace.SpanID]string{},
		names:    map[string]int{},
		sessions: map[string]string{},
	}
}

// nameSpan names a span by its service and its own name. From the second span
// of a name on, a number follows.
func (w *normalizer) nameSpan(service string, span sdktrace.ReadOnlySpan) {
	name := fmt.Sprintf("%s's %q", service, span.Name())
	w.names[name]++
	if n := w.names[name]; n > 1 {
		name = fmt.Sprintf("%s no. %d", name, n)
	}
	w.spans[span.SpanContext().SpanID()] = name
}

var (
	protection = regexp.MustCompile(`_c_[0-9a-f-]{36}-`)
	session    = regexp.MustCompile(`0x[0-9a-f]+`)
	traceIDs   = regexp.MustCompile(`(trace_id|span_id)=[0-9a-f]+`)
)

func (w *normalizer) normalize(s string) string {
	host, _ := os.Hostname()
	s = strings.ReplaceAll(s, fmt.Sprintf("@%s/%d", host, os.Getpid()), "@host/pid")
	s = strings.ReplaceAll(s, "::1%needs-zktest.Server.Dialer", "127.0.0.1") // the server's made-up host
	s = protection.ReplaceAllString(s, "")
	s = traceIDs.ReplaceAllString(s, "$1=…")
	s = session.ReplaceAllStringFunc(s, func(id string) string {
		if w.sessions[id] == "" {
			w.sessions[id] = fmt.Sprintf("session-%d", len(w.sessions)+1)
		}
		return w.sessions[id]
	})
	return s
}
