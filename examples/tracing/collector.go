package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives spans by OTLP over HTTP like a real collector, and keeps
// them.
type collector struct {
	mu    sync.Mutex // protects spans
	spans []*tracepb.ResourceSpans
}

const maxExport = 64 << 20 // bytes, the limit of OpenTelemetry's collector

// ServeHTTP receives one export of a service.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxExport))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var export collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &export); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.add(export.ResourceSpans)
	// The type of the answer, which is empty.
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collector) add(spans []*tracepb.ResourceSpans) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = append(c.spans, spans...)
}

// all returns the spans received so far.
func (c *collector) all() []*tracepb.ResourceSpans {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// serve starts an HTTP server for the collector. The caller must call stop.
func (c *collector) serve() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/traces", c)
	server := &http.Server{Handler: mux}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // returns when it is closed
	}()
	return "http://" + listener.Addr().String(), func() { server.Close(); <-ended }, nil
}

// forward sends all spans to the collector that the environment names.
func (c *collector) forward(ctx context.Context) error {
	client := otlptracehttp.NewClient()
	if err := client.Start(ctx); err != nil {
		return err
	}
	return errors.Join(client.UploadTraces(ctx, c.all()), client.Stop(ctx))
}
