// Tracing shows the wait for a lock in the OpenTelemetry traces of two services.
// The service stock counts an article under the article's lock. Meanwhile, the
// service orders asks for the same lock. The trace of orders names the holder and
// has a link to the holder's trace.
//
//	go run ./examples/tracing
//
// The type service is the part to copy: a tracer provider and a traced client. The
// methods takeStock and order contain nothing for the tracing of locks: the context
// that they pass on is enough. The ZooKeeper server of the program is in memory.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	conventions "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// service is a process with a tracer provider and a traced client.
type service struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer // of the service's own spans
	client   *framework.Client
}

// startService connects a service to ZooKeeper. The caller closes the service.
func startService(ctx context.Context, srv *zktest.Server, name string, spans sdktrace.SpanExporter) (*service, error) {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSyncer(spans), // in production: sdktrace.WithBatcher with the exporter of your collector
		sdktrace.WithResource(resource.NewSchemaless(conventions.ServiceName(name))))
	// After otel.SetTracerProvider, tracing.New needs no option. The nodes of locks contain
	// the service name, so a waiter can name the holder.
	client, err := framework.Connect(ctx, srv.Addr(), framework.WithDialer(srv.Dialer()),
		framework.WithServiceName(name),
		framework.WithHooks(tracing.New(tracing.WithTracerProvider(provider))))
	if err != nil {
		return nil, errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx)))
	}
	return &service{provider, provider.Tracer(name), client}, nil
}

// close shuts the provider down last, so that it sends the spans that Close ends.
func (s *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(s.client.Close(), s.provider.Shutdown(ctx))
}

const (
	article     = "/stock/sku-42"
	articleLock = "/locks/sku-42"
)

// lock returns the lock of the article. WithName sets the name in metrics, which is
// the same for all articles.
func (s *service) lock() *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(s.client, articleLock, locks.WithName("sku"))
}

// takeStock is a request to the service stock. It counts under the lock, because no
// unit may leave the shelf meanwhile.
func (s *service) takeStock(ctx context.Context) error {
	ctx, request := s.tracer.Start(ctx, "PUT /stock", trace.WithSpanKind(trace.SpanKindServer))
	defer request.End()
	return s.lock().Do(ctx, func(ctx context.Context) error {
		ctx, count := s.tracer.Start(ctx, "count")
		defer count.End()
		work(ctx, 1500*time.Millisecond)
		_, err := s.client.Set(ctx, article, []byte("10"), framework.AnyVersion)
		return err
	})
}

// order is a request to the service orders. It takes one unit under the lock.
func (s *service) order(ctx context.Context) error {
	ctx, request := s.tracer.Start(ctx, "POST /orders", trace.WithSpanKind(trace.SpanKindServer))
	defer request.End()
	payment, check := s.tracer.Start(ctx, "check payment")
	work(payment, 80*time.Millisecond)
	check.End()
	return s.lock().Do(ctx, func(ctx context.Context) error {
		ctx, reserve := s.tracer.Start(ctx, "reserve")
		defer reserve.End()
		_, stat, err := s.client.Get(ctx, article)
		if err != nil {
			return err
		}
		work(ctx, 150*time.Millisecond)
		_, err = s.client.Set(ctx, article, []byte("9"), stat.Version)
		return err
	})
}

// work takes some time.
func work(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	spans, err := run(ctx, srv)
	if err != nil {
		log.Fatal(err)
	}
	printTraces(os.Stdout, spans)
}

// run has an order arrive while stock counts, and returns the spans of both services.
func run(ctx context.Context, srv *zktest.Server) (spans tracetest.SpanStubs, err error) {
	exporter := tracetest.NewInMemoryExporter()
	stock, err := startService(ctx, srv, "stock", exporter)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stock.close(ctx)) }()
	orders, err := startService(ctx, srv, "orders", exporter)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, orders.close(ctx)) }()
	if err := errors.Join(srv.Create(article, nil), srv.Create(articleLock, nil)); err != nil {
		return nil, err
	}
	counted := make(chan error, 1)
	go func() { counted <- stock.takeStock(ctx) }()
	work(ctx, 300*time.Millisecond)
	err = errors.Join(orders.order(ctx), <-counted)
	return exporter.GetSpans(), err // before close, which empties the exporter
}
