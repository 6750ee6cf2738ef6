package barriers

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Waited describes a call that has waited at a barrier.
type Waited struct {
	Op       string        // "wait" at a Barrier; "enter" or "leave" at a DoubleBarrier
	Path     string        // the barrier's, as the client names it
	Duration time.Duration // the call's
	Err      error         // what the call returns
}

// HookBarrierWaited is a clienttrace.Hook that is told how long each Wait,
// Enter and Leave of a client has waited, before it returns. It is not told of
// the Leave of a member that has left before. The method must not panic.
type HookBarrierWaited interface {
	BarrierWaited(w Waited)
}

// HookBarrierMembersLost is a clienttrace.Hook that is told by each member of a
// DoubleBarrier that notices that n other members of its round were lost. The
// call has a goroutine of its own: a hook that blocks holds up no member. The
// method must not panic.
type HookBarrierMembersLost interface {
	BarrierMembersLost(n int)
}

var (
	hookWaited      = framework.NewHookKind[HookBarrierWaited]()
	hookMembersLost = framework.NewHookKind[HookBarrierMembersLost]()
)

// What barriers tell of.
var (
	eventRaised      = event.Kind{Info: "barrier raised"}
	eventLowered     = event.Kind{Info: "barrier lowered"}
	eventOpened      = event.Kind{Info: "double barrier opened"}
	eventNodeDeleted = event.Kind{Warn: "member of a double barrier was deleted while it waited, and enters again"}
	eventEnds        = event.Kind{Warn: "passage of a double barrier ends"}
)

// eventLost tells that n members were lost.
func eventLost(n int) event.Kind {
	hook := event.Call(hookMembersLost, func(h HookBarrierMembersLost) { h.BarrierMembersLost(n) })
	return event.Kind{Warn: "member of a double barrier lost", Hook: hook}
}

// waited tells hooks of a call that is about to return, and returns its error.
// The caller waits for the hooks.
func (p place) waited(op string, begun time.Time, err error) error {
	err = p.errorOf(op, err)
	for _, h := range hookWaited.Of(p.client) {
		h.BarrierWaited(Waited{Op: op, Path: p.path, Duration: time.Since(begun), Err: err})
	}
	return err
}
