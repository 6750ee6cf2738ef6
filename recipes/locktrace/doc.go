// Package locktrace defines what a tracing system is told of locks and
// leaderships: of each acquire, from the call to its outcome, and of each hold,
// from the grant to its end. It is to the recipes what net/http/httptrace is to
// net/http. Only those who write a tracer need it; package tracing implements
// it for OpenTelemetry.
//
// A client's tracer takes part if the value given to framework.WithTracer also
// has the method of [Tracer].
package locktrace
