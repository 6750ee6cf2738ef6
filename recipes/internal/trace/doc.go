// Package trace tells a client's tracer and its log what becomes of an acquire
// and of a hold. It knows no locks: it is told, and passes on.
//
// The user's own goroutine takes as long as its tracer does. Goroutines of the
// client, and whatever follows the end of a lease, call the tracer through a
// framework.Teller, so that a tracer that hangs delays them for a bounded time.
package trace
