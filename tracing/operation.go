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

// operation is the context of an operation that has a span, or that is part of an
// operation with a span. Other hooks may derive contexts from it.
type operation struct {
	context.Context
	key  operationKey
	span trace.Span // nil if the operation has no span
}

// operationKey is the context key of the operations of one tracer.
type operationKey struct{ *tracer }

// Value returns the operation itself under its key.
func (op *operation) Value(key any) any {
	if key == any(op.key) {
		return op
	}
	return op.Context.Value(key)
}

// zookeeper is the value of db.system.name. The semantic conventions define no value for
// ZooKeeper.
const zookeeper = "zookeeper"

// StartOperation implements the hook.
func (t *tracer) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	key := operationKey{t}
	if wanted := t.cfg.operations; wanted == nil {
		return ctx
	} else if !wanted(op) {
		if ctx.Value(key) != nil { // its span belongs to another operation
			return &operation{ctx, key, nil}
		}
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
	return &operation{ctx, key, span}
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
	if op, ok := ctx.Value(operationKey{t}).(*operation); ok && op.span != nil {
		op.end(point, end)
	}
	t.metrics.histograms[semconv.OperationDuration].Record(ctx, took.Seconds(),
		t.metrics.operations.lookUp(point).record...)
}

func (op *operation) end(point operationPoint, end clienttrace.OperationEnd) {
	op.span.SetAttributes(append(point.attributes(), attribute.Int(semconv.Attempts, end.Attempts))...)
	if end.Err != nil {
		op.span.SetStatus(codes.Error, end.Err.Error())
	}
	op.span.End()
}
