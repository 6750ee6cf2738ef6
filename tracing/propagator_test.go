package tracing_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"

	"github.com/gocurator/curator/tracing"
)

// b3Propagator is a propagator whose one field is not the W3C's, like those of
// B3, Jaeger and X-Ray.
type b3Propagator struct{ propagation.TraceContext }

func (p b3Propagator) Inject(ctx context.Context, to propagation.TextMapCarrier) {
	carrier := propagation.MapCarrier{}
	p.TraceContext.Inject(ctx, carrier)
	to.Set("b3", carrier["traceparent"])
}

func (p b3Propagator) Extract(ctx context.Context, from propagation.TextMapCarrier) context.Context {
	return p.TraceContext.Extract(ctx, propagation.MapCarrier{"traceparent": from.Get("b3")})
}

func (b3Propagator) Fields() []string { return []string{"b3"} }

func TestPropagatorOfAnotherField(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		lease := s.must(v.mutex().Acquire(s.request(v, "POST /orders")))
		require.Contains(t, s.nodeData(), `"trace":{"b3":"00-`)
		require.NoError(t, lease.Release(t.Context()))
	}, tracing.WithPropagators(b3Propagator{}))
}
