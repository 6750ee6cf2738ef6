package tracing

// hook is what New returns.
type Tracer = tracer
