// Package trace reports acquires and holds to a client's tracer and its log. It
// knows nothing of locks, but only passes on what they report.
//
// The user's own goroutine waits for its tracer. Goroutines of the client, and
// all that follows the end of a lease, call the tracer through an
// insider.Teller. So a tracer that hangs delays them for a bounded time.
package trace
