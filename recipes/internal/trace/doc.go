// Package trace reports acquires and holds to a client's tracers and its log. It does not
// depend on package seat, which makes the reports.
//
// The goroutine of an acquire calls the acquire's tracers. The client's emitter calls the
// tracers of a hold, in the order of the events. A release calls Ended itself if the
// emitter has no earlier call of the same hold to make.
package trace
