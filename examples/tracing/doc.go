// Tracing shows the wait for a lock in a trace. Two services want the same
// lock. The trace of the service that waits names the holder and the time, and
// has a link to the holder's trace.
//
//	go run ./examples/tracing
//	go run ./examples/tracing -svg trace.svg
//
// The services "stock" and "orders" are two processes, each with its own
// ZooKeeper client. Stock counts the units of an article on the shelf, under
// the article's lock. Meanwhile an order for that article arrives. Both
// requests are traced with OpenTelemetry, and so are the locks, since package
// tracing is one option of the client. The program collects the spans of both
// services and prints them as trees.
//
//	-svg file              draw the traces on one axis, with the waits
//	-hold 1.5s             how long stock holds the lock
//	-servers host:port     use a real ensemble
//
// The spans also go to a collector such as Jaeger or Tempo if the usual
// environment variables name one. The protocol is OTLP over HTTP; headers, TLS
// and compression come from the environment, too:
//
//	export OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318
//	go run ./examples/tracing
//
// The exit status is 0, or 1 if something failed, or 2 if the flags or the
// environment are invalid.
//
// # Reading the source
//
// The file service.go is the part to copy: a tracer provider, a traced client,
// and how both end in the right order. The files orders.go and stock.go are the
// handlers, with spans around their work. They contain nothing for the tracing
// of locks, because the context that they pass on is enough.
//
// The rest drives the demonstration: story.go starts the services and sends the
// requests, process.go is a service as story.go sees it, collector.go receives
// the spans by OTLP like a real collector, and span.go reads them. In tree.go
// they are printed, and in svg.go they are drawn.
package main
