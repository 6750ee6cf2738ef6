package tracing

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/semconv"
)

// operation is the context of an operation that has a span.
type operation struct {
	context.Context
	span trace.Span
}

// zookeeper is the value of db.system.name. The semantic conventions define
// none for ZooKeeper.
const zookeeper = "zookeeper"

// StartOperation implements the hook.
func (t *tracer) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if wanted := t.cfg.operations; wanted == nil || !wanted(op) {
		return ctx
	}
	attrs := []attribute.KeyValue{
		attribute.String(semconv.DBSystem, zookeeper),
		attribute.String(semconv.DBOperation, op.Name),
		attribute.String(semconv.ZNodePath, op.Path),
	}
	if op.Chroot != "" {
		attrs = append(attrs, attribute.String(semconv.DBNamespace, op.Chroot))
	}
	ctx, span := t.spans.Start(ctx, op.Name,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	return operation{ctx, span}
}

// EndOperation implements the hook.
func (t *tracer) EndOperation(ctx context.Context, end clienttrace.OperationEnd) {
	took := time.Since(end.Start)
	point := operationPoint{operation: end.Name, server: end.Server}
	if end.Err != nil {
		point.errorType = errorType(end.Err)
		if code, answered := framework.ServerCode(end.Err); answered {
			point.status = strconv.Itoa(int(code))
		}
	}
	if op, ok := ctx.(operation); ok {
		op.end(point, end)
	}
	t.metrics.operationDuration.Record(ctx, took.Seconds(), t.metrics.operations.lookUp(point).record...)
}

func (op operation) end(point operationPoint, end clienttrace.OperationEnd) {
	op.span.SetAttributes(append(point.attributes(), attribute.Int(semconv.Attempts, end.Attempts))...)
	if end.Err != nil {
		op.span.SetStatus(codes.Error, end.Err.Error())
	}
	op.span.End()
}
