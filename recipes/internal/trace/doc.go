// Package trace reports acquires and holds to a client's tracer and its log. It
// knows nothing of locks, but only passes on what they report.
//
// An acquire waits for its tracer. All that happens during a hold, and follows its
// end, calls the tracer through an insider.Teller. So a tracer that hangs delays a
// release for a bounded time.
package trace
