package barriers

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// Waited describes a call that has waited at a barrier.
type Waited struct {
	Op       string        // "wait" at a Barrier; "enter" or "leave" at a DoubleBarrier
	Path     string        // of the barrier, as the client names it
	Duration time.Duration // of the call
	Err      error         // that the call returns, or nil
}

// Tracer is told how long the calls of every barrier wait, and of lost members,
// of a client whose clienttrace.Tracer has these methods as well. The methods
// must not panic.
type Tracer interface {
	// BarrierWaited is called for each Wait, Enter and Leave, before it
	// returns.
	BarrierWaited(w Waited)

	// BarrierMembersLost is called by each member of a DoubleBarrier that
	// notices that n other members of its round were lost. A clienttrace.Teller
	// makes the call: a Tracer that blocks holds up no member.
	BarrierMembersLost(n int)
}

// traceWait tells the client's tracer of a call that is about to return.
func traceWait(c *framework.Client, op, path string, begun time.Time, err error) {
	if tracer, ok := framework.Extend(c).Tracer().(Tracer); ok {
		tracer.BarrierWaited(Waited{Op: op, Path: path, Duration: time.Since(begun), Err: err})
	}
}

func traceLosses(c *framework.Client, n int) {
	e := framework.Extend(c)
	if tracer, ok := e.Tracer().(Tracer); ok {
		e.NewTeller().Post(func() { tracer.BarrierMembersLost(n) })
	}
}
