package tracing_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// withService runs a test with one service, in virtual time.
func withService(t *testing.T, test func(t *testing.T, s *story, v *service), opts ...tracing.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &story{T: t, srv: zktest.Start(t), names: newNormalizer()}
		test(t, s, s.service("orders", opts...))
	})
}

// endedSpan returns the one ended span of a name.
func (v *service) endedSpan(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	synctest.Wait() // the client's emitter ends the spans of holds
	var found sdktrace.ReadOnlySpan
	for _, span := range v.spans.Ended() {
		if span.Name() == name {
			require.Nil(t, found, "several spans %q", name)
			found = span
		}
	}
	require.NotNil(t, found, "no span %q", name)
	return found
}

// attributeOf returns an attribute of the one ended span of a name.
func (v *service) attributeOf(t *testing.T, span, key string) any {
	t.Helper()
	return attributesOf(v.endedSpan(t, span).Attributes())[key]
}

// logged returns the log once every goroutine is idle.
func (v *service) logged() string {
	synctest.Wait()
	return v.log.String()
}

// attributesOf returns attributes as a map.
func attributesOf(attrs []attribute.KeyValue) map[string]any {
	all := map[string]any{}
	for _, a := range attrs {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

// nodeData returns the data of the lock's only node.
func (s *story) nodeData() string {
	s.Helper()
	queue := s.srv.Queue("/locks/sku-42")
	require.Len(s, queue, 1)
	return string(queue[0].Data)
}

func TestNodesLeadToTheSpanOfTheAcquire(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		lease := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		span := v.endedSpan(t, "acquire sku").SpanContext()
		traceparent := "00-" + span.TraceID().String() + "-" + span.SpanID().String() + "-01"
		require.Contains(t, s.nodeData(), `"trace":{"traceparent":"`+traceparent+`"}`)
		id := locks.ReadIdentity([]byte(s.nodeData()))
		require.Equal(t, "orders", id.Service)
		require.WithinDuration(t, time.Now(), id.Since, time.Second)
		require.NoError(t, lease.Release(t.Context()))
	})
}

func TestTraceIDsCanBeLeftOut(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		lease := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		require.NotContains(t, s.nodeData(), "trace")
		require.Contains(t, s.nodeData(), "orders")
		require.NoError(t, lease.Release(t.Context()))
	}, tracing.WithoutTraceIDs())
}

func TestBaggageIsInNodesOnlyIfAskedFor(t *testing.T) {
	both := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	for _, asked := range []bool{false, true} {
		var opts []tracing.Option
		if asked {
			opts = append(opts, tracing.WithPropagators(both))
		}
		withService(t, func(t *testing.T, s *story, v *service) {
			member, err := baggage.NewMember("customer", "4711")
			require.NoError(t, err)
			bag, err := baggage.New(member)
			require.NoError(t, err)
			lease := s.must(v.mutex().Acquire(baggage.ContextWithBaggage(s.request(v, "POST /orders"), bag)))
			require.Equal(t, asked, strings.Contains(s.nodeData(), "customer=4711"))
			require.Contains(t, s.nodeData(), "traceparent")
			require.NoError(t, lease.Release(t.Context()))
		}, opts...)
	}
}

func TestSpansOfOperationsAreMadeOnlyIfAskedFor(t *testing.T) {
	onlyDeletes := func(op clienttrace.Operation) bool { return op.Name == "delete" }
	for name, tt := range map[string]struct {
		opts []tracing.Option
		want []string
	}{
		"by default": {nil, nil},
		"all":        {[]tracing.Option{tracing.WithOperations(nil)}, []string{"create", "delete"}},
		"some":       {[]tracing.Option{tracing.WithOperations(onlyDeletes)}, []string{"delete"}},
	} {
		t.Run(name, func(t *testing.T) {
			withService(t, func(t *testing.T, s *story, v *service) {
				lease := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
				require.NoError(t, lease.Release(t.Context()))
				var got []string
				for _, span := range v.spans.Ended() {
					if span.SpanKind() == trace.SpanKindClient {
						got = append(got, span.Name())
					}
				}
				require.Equal(t, tt.want, got)
			}, tt.opts...)
		})
	}
}

func TestSpanOfAnOperationFollowsTheConventionsOfDatabases(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		view, err := v.client.Namespace("/shop")
		require.NoError(t, err)
		_, _, err = view.Get(t.Context(), "/missing")
		require.Error(t, err)
		span := v.endedSpan(t, "get")
		require.Equal(t, trace.SpanKindClient, span.SpanKind())
		require.Equal(t, map[string]any{
			"db.system.name":             "zookeeper",
			"db.operation.name":          "get",
			"db.namespace":               "/shop",
			"curator.znode.path":         "/missing",
			"server.address":             "::1%needs-zktest.Server.Dialer",
			"server.port":                int64(1),
			"error.type":                 "-101",
			"db.response.status_code":    "-101",
			"curator.operation.attempts": int64(1),
		}, attributesOf(span.Attributes()))
		require.Equal(t, codes.Error, span.Status().Code)
	}, tracing.WithOperations(nil))
}

func TestSlowWaitIsReportedWithTheHolderAndBothStacks(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		held := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		waiting := s.inBackground(context.Background(), v.mutex().Acquire)
		time.Sleep(4 * time.Second)
		log := v.logged()
		require.Equal(t, 1, strings.Count(log, "\n"), "one line: %s", log)
		require.Contains(t, log, `level=WARN msg="slow wait" curator.lock.recipe=mutex`)
		require.Contains(t, log, "curator.lock.path=/locks/sku-42")
		require.Contains(t, log, "curator.lock.holder=orders@")
		require.Contains(t, log, "curator.lock.waited=3 ")
		require.Contains(t, log, "curator.lock.holder.age=3")
		require.Contains(t, log, "code.stacktrace=")
		require.Contains(t, log, "curator.lock.holder.stacktrace=")
		require.Contains(t, log, "TestSlowWaitIsReported", "the stack of the acquire")
		require.NotContains(t, log, "curator/recipes.", "the library's own functions are left out")

		require.NoError(t, held.Release(t.Context()))
		require.NoError(t, (<-waiting).Release(t.Context()))
		var events []string
		for _, span := range v.spans.Ended() {
			for _, event := range span.Events() {
				if strings.HasPrefix(event.Name, "slow") {
					events = append(events, span.Name()+": "+event.Name)
					require.Equal(t, 3.0, attributesOf(event.Attributes)["curator.lock.waited"])
				}
			}
		}
		require.Equal(t, []string{"acquire sku: slow wait"}, events)
	}, tracing.WithSlowWait(3*time.Second))
}

func TestSlowHoldIsReported(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		for _, held := range []time.Duration{time.Second, 5 * time.Second} {
			s.release(s.must(v.mutex().Acquire(t.Context())), held)
		}
		log := v.logged()
		require.Equal(t, 1, strings.Count(log, "\n"), "one line: %s", log)
		require.Contains(t, log, `level=WARN msg="slow hold"`)
		require.Contains(t, log, "curator.lock.held=3 ")
		require.Contains(t, log, "TestSlowHoldIsReported", "the stack of the acquire")
		require.Contains(t, log, "trace_id=")
	}, tracing.WithSlowHold(3*time.Second))
}

func TestWorkIsInTheSpanOfItsCallerOrOfTheHold(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		request := s.request(v, "POST /orders")
		lease := s.must(v.mutex().Acquire(request))
		require.Equal(t, trace.SpanFromContext(request), trace.SpanFromContext(lease.Context()))
		require.NoError(t, lease.Release(t.Context()))

		synctest.Wait()
		v.spans.Reset()
		lease = s.must(v.mutex().Acquire(context.Background()))
		require.Equal(t, "hold sku", trace.SpanFromContext(lease.Context()).(sdktrace.ReadOnlySpan).Name())
		under, done := lease.WithContext(request)
		require.Equal(t, trace.SpanFromContext(request), trace.SpanFromContext(under))
		done()
		require.NoError(t, lease.Release(t.Context()))
		acquired, held := v.endedSpan(t, "acquire sku"), v.endedSpan(t, "hold sku")
		require.Equal(t, acquired.SpanContext().SpanID(), held.Parent().SpanID())
		require.Equal(t, acquired.SpanContext().TraceID(), held.SpanContext().TraceID())
	})
}

func TestEverySpanEndsWhenTheClientIsClosed(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		s.must(v.mutex().Acquire(t.Context()))
		waiting := s.inBackground(context.Background(), v.mutex().Acquire)
		require.NoError(t, v.client.Close())
		require.Nil(t, <-waiting)
		synctest.Wait()
		require.Len(t, v.spans.Ended(), len(v.spans.Started()))
		require.Equal(t, "client_closed", v.attributeOf(t, "hold sku", "curator.lock.end"))
	})
}

func TestTracerWithoutProvidersOrSpansIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(),
			framework.WithDialer(srv.Dialer()), framework.WithHooks(tracing.New()))
		require.NoError(t, err)
		defer c.Close()
		lease, err := locks.NewInterProcessMutex(c, "/locks/sku-42").Acquire(t.Context())
		require.NoError(t, err)
		data := string(srv.Queue("/locks/sku-42")[0].Data)
		require.NotContains(t, data, "trace", "no span could be found by it")
		require.NoError(t, lease.Release(t.Context()))
	})
}
