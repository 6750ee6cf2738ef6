package atomic

import "github.com/gocurator/curator/framework"

// Outcome says what has become of one write of a Number or of a Value.
type Outcome string

// These are the outcomes of a write. After WriteConflict and WriteNotApplied,
// the changes that were in the write are tried again.
const (
	WriteApplied    Outcome = "applied"
	WriteConflict   Outcome = "conflict"    // somebody else had changed the node
	WriteNotApplied Outcome = "not_applied" // the connection or the receipt was lost
	WriteRefused    Outcome = "refused"
	WriteUnknown    Outcome = "unknown"
)

// Tracer is told what becomes of the writes of every Number and Value of a
// client whose clienttrace.Tracer has these methods as well. A
// clienttrace.Teller makes the calls: a Tracer that blocks holds up no write.
// The methods must not panic.
type Tracer interface {
	// AtomicWritten is called once for each write, when its outcome is clear. A
	// write may have the changes of several callers, and may have been sent
	// several times.
	AtomicWritten(outcome Outcome)

	// AtomicPromoted is called when a write goes on under the lock of
	// WithPromotion.
	AtomicPromoted()
}

// tracer returns the client's tracer, and makes the teller, or returns nil. Only
// the worker calls it.
func (c *cell) tracer() Tracer {
	e := framework.Extend(c.client)
	tracer, ok := e.Tracer().(Tracer)
	if !ok {
		return nil
	}
	if c.teller == nil {
		c.teller = e.NewTeller()
	}
	return tracer
}

func (c *cell) traceWrite(v verdict) {
	if tracer := c.tracer(); tracer != nil {
		c.teller.Post(func() { tracer.AtomicWritten(outcomes[v]) })
	}
}

var outcomes = map[verdict]Outcome{
	applied: WriteApplied, conflict: WriteConflict, again: WriteNotApplied, refused: WriteRefused, lost: WriteUnknown,
}

func (c *cell) tracePromotion() {
	if tracer := c.tracer(); tracer != nil {
		c.teller.Post(tracer.AtomicPromoted)
	}
}
