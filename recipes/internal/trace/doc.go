// Package trace reports acquires and holds to a client's tracer and its log. It
// knows nothing of locks, but only passes on what they report.
//
// The goroutine of an acquire calls the acquire's tracers. The client's emitter calls
// the tracers of a hold, in the order of what happens. A release calls Ended itself if
// the emitter has no earlier call of the same hold to make.
package trace
