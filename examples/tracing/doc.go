// Tracing shows a wait in a trace: two services want the same lock, and the trace of the one that waits says for whom,
// for how long, and leads to the trace of the other.
//
//	go run ./examples/tracing
//	go run ./examples/tracing -svg trace.svg
//
// The services, "stock" and "orders", are processes of their own, each with its own ZooKeeper client. Stock counts
// what is on the shelf, under the lock of the article; meanwhile an order for that article arrives. Both requests are
// traced with OpenTelemetry, and so are the locks: package tracing is one option of the client. The program collects
// the spans of both and prints them as trees.
//
//	-svg file              draw the traces, on one axis, with who waited for whom
//	-hold 1.5s             how long stock holds the lock
//	-servers host:port     use a real ensemble
//
// The spans also go to a collector of your own, such as Jaeger or Tempo, if the usual environment variables say where
// it is (OTLP over HTTP; headers, TLS and compression from the environment as well):
//
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 go run ./examples/tracing
//
// The exit status is 0, or 1 if something failed, or 2 if the flags or the environment cannot be used.
//
// # Reading the source
//
// service.go is the part to copy: a tracer provider, a client that is traced, and the end of both in the right order.
// orders.go and stock.go are the handlers, with spans of their own around the work. They know nothing of the tracing
// of locks: the context that they pass on does it all.
//
// The rest is stage machinery: story.go starts the services and asks them, process.go is a service as seen from there,
// collector.go receives the spans by OTLP, as a real collector does, and span.go reads them. tree.go prints, and
// svg.go draws.
package main
