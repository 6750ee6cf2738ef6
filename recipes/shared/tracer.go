package shared

import "github.com/gocurator/curator/framework"

// Event is something that happened to a Value.
type Event int

// These are the events of a Value.
const (
	Changed     Event = iota // it has heard of a change of the node, or has written it
	ReadAgain                // it reads the node again, after an interruption of the connection
	Undecodable              // the codec could not read the node's data
)

// Tracer is told what happens to every Value of a client whose
// clienttrace.Tracer has this method as well. A clienttrace.Teller makes the
// calls: a Tracer that blocks holds up no Value. The method must not panic.
type Tracer interface {
	SharedValue(event Event)
}

func (r *replica) trace(event Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traceLocked(event)
}

func (r *replica) traceLocked(event Event) {
	if r.Client == nil { // in tests of the order of reads
		return
	}
	e := framework.Extend(r.Client)
	tracer, ok := e.Tracer().(Tracer)
	if !ok {
		return
	}
	if r.teller == nil {
		r.teller = e.NewTeller()
	}
	r.teller.Post(func() { tracer.SharedValue(event) })
}
