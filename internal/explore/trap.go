package explore

import "sync/atomic"

// trap is a place in a callback that panics if it is armed.
type trap struct {
	name  string
	armed atomic.Bool
	calls atomic.Int64
	asked int64 // calls when it was offered last; -1 before that
}

func (t *trap) step() {
	t.calls.Add(1)
	if t.armed.CompareAndSwap(true, false) {
		panic("explore: the trap in " + t.name)
	}
}

// offer reports whether arming the trap now differs from having armed it before:
// somebody has stepped on it meanwhile.
func (t *trap) offer() bool {
	calls := t.calls.Load()
	if t.armed.Load() || calls == t.asked {
		return false
	}
	t.asked = calls
	return true
}

func (t *trap) arm() { t.armed.Store(true) }
