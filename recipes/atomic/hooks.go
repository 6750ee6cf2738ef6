package atomic

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// HookAtomicWritten is a clienttrace.Hook that is told what becomes of the writes
// of every Number and Value of a client, once for each write, when its outcome is
// clear. A write may have the changes of several callers, and may have been sent
// several times. The calls have a goroutine of their own: a hook that blocks holds up
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

// eventsWritten are the writes, by what has become of them.
var eventsWritten = map[verdict]event.Kind{
	applied:  {Hook: tellWritten("applied")},
	conflict: {Hook: tellWritten("conflict")},
	again:    {Hook: tellWritten("not_applied")},
	refused:  {Hook: tellWritten("refused")},
	lost:     {Hook: tellWritten("unknown")},
}

func tellWritten(outcome string) event.Hook {
	return event.Call(hookWritten, func(h HookAtomicWritten) { h.AtomicWritten(outcome) })
}

// The other events of a cell.
var (
	eventPromoted       = event.Kind{Hook: event.Call(hookPromoted, HookAtomicPromoted.AtomicPromoted)}
	eventOutcomeUnknown = event.Kind{Warn: "outcome of a write is unknown"}
)
