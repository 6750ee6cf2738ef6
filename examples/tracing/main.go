// Tracing shows the wait for a lock in a trace. Two services want the same
// lock. The trace of the service that waits names the holder and the time, and
// has a link to the holder's trace.
//
//	go run ./examples/tracing
//
// Stock counts the units of an article on the shelf, under the article's lock.
// Meanwhile an order for that article arrives. Both requests are traced with
// OpenTelemetry, and so are the locks, since package tracing is one option of the
// client. Each service has its own client and its own tracer provider, as it has
// in its own process. The program prints the spans of both as trees.
//
// The spans also go to a collector such as Jaeger or Tempo if the usual
// environment variables name one. The protocol is OTLP over HTTP; headers, TLS
// and compression come from the environment, too:
//
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 go run ./examples/tracing
//
// The exit status is 0, or 1 if something failed, or 2 for wrong arguments.
//
// The file service.go is the part to copy: a tracer provider, a traced client,
// and how both end in the right order. The file shop.go has the work of the
// services, with spans around it. It contains nothing for the tracing of locks,
// because the context that it passes on is enough. The file tree.go prints.
package main

import (
	"context"
	"errors"
	"io"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
)

// How long stock counts, and when the order arrives after it has begun.
const (
	counting = 1500 * time.Millisecond
	arrival  = 300 * time.Millisecond
)

func main() { demo.Main("tracing", runStory) }

func runStory(ctx context.Context, stage demo.Stage) error {
	if err := openShop(ctx, stage.Client); err != nil {
		return err
	}
	return tell(ctx, stage.Connect, stage.Out)
}

// tell has stock count while an order arrives, and prints the traces of both.
func tell(ctx context.Context, connect connector, out io.Writer) (err error) {
	spans := tracetest.NewInMemoryExporter()
	stock, err := startService(ctx, "stock", connect, spans)
	if err != nil {
		return err
	}
	orders, err := startService(ctx, "orders", connect, spans)
	if err != nil {
		return errors.Join(err, stock.close(ctx))
	}
	begun, counted := make(chan struct{}), make(chan error, 1)
	go func() { counted <- stock.takeStock(ctx, func() { close(begun) }) }()
	select {
	case <-begun:
		if err = pause(ctx, arrival); err == nil {
			err = orders.order(ctx)
		}
		err = errors.Join(err, <-counted)
	case err = <-counted:
	}
	if err := errors.Join(err, orders.close(ctx), stock.close(ctx)); err != nil {
		return err
	}
	printTraces(out, tracesOf(spans.GetSpans()))
	return nil
}

// connector connects a client to the servers of the story.
type connector func(ctx context.Context, opts ...framework.Option) (*framework.Client, error)
