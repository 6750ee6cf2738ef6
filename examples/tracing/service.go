package main

import (
	"context"
	"errors"
	"os"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	conventions "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/tracing"
)

// service is the part that every service has: a tracer provider and a traced
// client.
type service struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer // for the service's own spans
	client   *framework.Client
}

// startService sets tracing up and connects to ZooKeeper. The spans stay in
// memory, and go to the collector that the environment names. The caller must
// close the service.
func startService(
	ctx context.Context, name string, connect connector, spans *tracetest.InMemoryExporter,
) (*service, error) {
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithSyncer(keepSpans{spans}),
		sdktrace.WithResource(resource.NewSchemaless(conventions.ServiceName(name))),
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, sdktrace.WithBatcher(exporter))
	}
	provider := sdktrace.NewTracerProvider(opts...)

	// The service name is stored in the lock's nodes, so that other services
	// can say behind which service they wait. After otel.SetTracerProvider,
	// tracing.New needs no option. It also makes metrics if there is a meter
	// provider.
	client, err := connect(ctx,
		framework.WithServiceName(name),
		framework.WithHooks(tracing.New(tracing.WithTracerProvider(provider))))
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

// span does work in its own span. The first span of a request has no parent
// here. Real services use otelhttp, which also continues the caller's trace.
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

// keepSpans keeps the spans of a provider that was shut down.
type keepSpans struct{ *tracetest.InMemoryExporter }

// Shutdown implements sdktrace.SpanExporter.
func (keepSpans) Shutdown(context.Context) error { return nil }
