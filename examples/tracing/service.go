package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	conventions "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/tracing"
)

// runService runs a service until serve returns.
func runService(ctx context.Context, name, servers string, serve func(*service) error) (err error) {
	exporter, err := otlptracehttp.New(ctx) // reads OTEL_EXPORTER_OTLP_ENDPOINT
	if err != nil {
		return err
	}
	s, err := startService(ctx, name, servers, exporter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	return serve(s)
}

// service is the part that every service has: a tracer provider and a traced
// client.
type service struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer // for the service's own spans
	client   *framework.Client
}

// startService sets tracing up and starts to connect to ZooKeeper. The caller
// must close the service.
func startService(
	ctx context.Context, name, servers string, exporter sdktrace.SpanExporter, opts ...framework.Option,
) (*service, error) {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(conventions.ServiceName(name))))

	// The service name is stored in the lock's nodes, so that other services
	// can say behind which service they wait. After otel.SetTracerProvider,
	// tracing.New needs no option. It also makes metrics if there is a meter
	// provider.
	client, err := framework.New(servers, append(opts,
		framework.WithServiceName(name),
		framework.WithHooks(tracing.New(tracing.WithTracerProvider(provider))))...)
	if err != nil {
		return nil, errors.Join(err, provider.Shutdown(ctx))
	}
	return &service{provider: provider, tracer: provider.Tracer(name), client: client}, nil
}

// close is called after the last request, when all leases have been released
// and their spans have ended. The provider is closed last, since it then sends
// the spans that it still has.
func (s *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(s.client.Close(), s.provider.Shutdown(ctx))
}

// endpoint makes a span for each request. Real services use otelhttp, which
// also continues the caller's trace.
func (s *service) endpoint(route string, handle func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.span(r.Context(), route, handle, trace.WithSpanKind(trace.SpanKindServer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

// span does work in a span of its own.
func (s *service) span(
	ctx context.Context, name string, work func(context.Context) error, opts ...trace.SpanStartOption,
) error {
	ctx, span := s.tracer.Start(ctx, name, opts...)
	defer span.End()
	err := work(ctx)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}
