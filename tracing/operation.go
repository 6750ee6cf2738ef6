package tracing

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// operation is one under way.
type operation struct {
	framework.Operation
	start time.Time
	span  trace.Span // nil for none
}

type operationKey struct{}

// StartOperation implements framework.Tracer.
func (t *Tracer) StartOperation(ctx context.Context, op framework.Operation) context.Context {
	under := &operation{Operation: op, start: time.Now()}
	if wanted := t.cfg.operations; wanted != nil && wanted(op) {
		attrs := append(operationAttributes(op), attribute.String(semconv.ZNodePath, op.Path))
		if op.Chroot != "" {
			attrs = append(attrs, attribute.String(semconv.DBNamespace, op.Chroot))
		}
		ctx, under.span = t.spans.Start(ctx, op.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	}
	return context.WithValue(ctx, operationKey{}, under)
}

// EndOperation implements framework.Tracer.
func (t *Tracer) EndOperation(ctx context.Context, end framework.OperationEnd) {
	op, ok := ctx.Value(operationKey{}).(*operation)
	if !ok {
		return
	}
	about := serverAttributes(end.Server)
	if end.Err != nil {
		about = append(about, attribute.String(semconv.ErrorType, errorType(end.Err)))
		if code, answered := framework.ServerCode(end.Err); answered {
			about = append(about, attribute.String(semconv.DBStatus, strconv.Itoa(int(code))))
		}
	}
	if op.span != nil {
		op.end(about, end)
	}
	t.metrics.operationDuration.Record(ctx, time.Since(op.start).Seconds(),
		metric.WithAttributes(append(operationAttributes(op.Operation), about...)...))
}

func (op *operation) end(about []attribute.KeyValue, end framework.OperationEnd) {
	op.span.SetAttributes(about...)
	op.span.SetAttributes(attribute.Int(semconv.Attempts, end.Attempts))
	if end.Err != nil {
		op.span.SetStatus(codes.Error, end.Err.Error())
	}
	op.span.End()
}

// operationAttributes are those of spans and metrics. The namespace is a path, and not for metrics.
func operationAttributes(op framework.Operation) []attribute.KeyValue {
	return append(make([]attribute.KeyValue, 0, 8),
		attribute.String(semconv.DBSystem, "zookeeper"),
		attribute.String(semconv.DBOperation, op.Name))
}
