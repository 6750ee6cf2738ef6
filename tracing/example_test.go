package tracing_test

import (
	"context"
	"errors"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/tracing"
)

// The lock of a request has spans in the request's trace: one for the wait, and
// one for the time that it is held. A service exports its spans to a collector;
// this one keeps them.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	client, _, done := exampletest.Connect(
		framework.WithServiceName("orders"),
		framework.WithHooks(tracing.New(tracing.WithTracerProvider(provider))))

	ctx, request := provider.Tracer("orders").Start(context.Background(), "POST /orders")
	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42", locks.WithName("sku"))
	err := mutex.Do(ctx, func(context.Context) error { return nil })
	request.End()
	done() // closes the client: its tracer has received everything then
	fmt.Println(err)

	for _, span := range spans.GetSpans() {
		if span.Parent.SpanID() == request.SpanContext().SpanID() {
			fmt.Println(span.Name)
			for _, event := range span.Events {
				fmt.Println("  event:", event.Name)
			}
		}
	}
	fmt.Println(provider.Shutdown(context.Background()))
	// Output:
	// <nil>
	// acquire sku
	//   event: enqueued
	//   event: granted
	// hold sku
	// <nil>
}

// The span of an acquire leads to whoever is ahead: it has the holder's name, and
// a link to the span of the holder's acquire, which is in another trace and
// may be in another process.
func ExampleNew() {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tracer := tracing.New(tracing.WithTracerProvider(provider)) // one for the process
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"), framework.WithHooks(tracer))
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42", locks.WithName("sku"))

	lease, err := mutex.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	_, err = mutex.TryAcquire(ctx)
	fmt.Println(errors.Is(err, locks.ErrNotAcquired), lease.Release(ctx))
	done()

	var first sdktrace.ReadOnlySpan
	for _, span := range spans.GetSpans().Snapshots() {
		switch {
		case span.Name() != "acquire sku":
		case first == nil: // the holder's ends with the grant
			first = span
		default:
			fmt.Println(len(span.Links()), span.Links()[0].SpanContext.SpanID() == first.SpanContext().SpanID())
		}
	}
	// Output:
	// true <nil>
	// 1 true
}
