package atomic

import "github.com/gocurator/curator/framework"

// HookAtomicWritten is a clienttrace.Hook that is told what becomes of the writes
// of every Number and Value of a client, once for each write, when its outcome is
// clear. A write may have the changes of several callers, and may have been sent
// several times. A clienttrace.Teller makes the calls: a hook that blocks holds up
// no write. The method must not panic.
type HookAtomicWritten interface {
	// AtomicWritten gets the outcome: "applied", "conflict" if somebody else had
	// changed the node, "not_applied" if the connection or the receipt was lost,
	// "refused" or "unknown". After the second and the third, the changes that
	// were in the write are tried again.
	AtomicWritten(outcome string)
}

// HookAtomicPromoted is HookAtomicWritten for a write that goes on under the lock
// of WithPromotion.
type HookAtomicPromoted interface {
	AtomicPromoted()
}

var (
	hookWritten  = framework.NewHookKind[HookAtomicWritten]()
	hookPromoted = framework.NewHookKind[HookAtomicPromoted]()
)

func (c *cell) traceWrite(v verdict) {
	for _, h := range hookWritten.Of(c.client) {
		c.post(func() { h.AtomicWritten(outcomes[v]) })
	}
}

var outcomes = map[verdict]string{
	applied: "applied", conflict: "conflict", again: "not_applied", refused: "refused", lost: "unknown",
}

func (c *cell) tracePromotion() {
	for _, h := range hookPromoted.Of(c.client) {
		c.post(h.AtomicPromoted)
	}
}

// post has the teller make a call. Only the worker calls it.
func (c *cell) post(call func()) {
	if c.teller == nil {
		c.teller = framework.Extend(c.client).NewTeller()
	}
	c.teller.Post(call)
}
