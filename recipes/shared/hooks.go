package shared

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Event is something that happened to a Value.
type Event int

// These are the events of a Value.
const (
	Changed     Event = iota // it has heard of a change of the node, or has written it
	ReadAgain                // it reads the node again, after an interruption of the connection
	Undecodable              // the codec could not read the node's data
)

// HookSharedValue is a clienttrace.Hook that is told what happens to every
// Value of a client. The calls have a goroutine of their own: a hook that blocks
// holds up no Value. The method must not panic.
type HookSharedValue interface {
	SharedValue(event Event)
}

var hookSharedValue = framework.NewHookKind[HookSharedValue]()

func heard(e Event) event.Hook {
	return event.Call(hookSharedValue, func(h HookSharedValue) { h.SharedValue(e) })
}

// What a Value tells of.
var (
	eventChanged     = event.Kind{Hook: heard(Changed)}
	eventReadAgain   = event.Kind{Hook: heard(ReadAgain)}
	eventUndecodable = event.Kind{Hook: heard(Undecodable)}
	eventSetBack     = event.Kind{Warn: "zookeeper has gone back to an older state, and the shared value with it"}
	eventDeleted     = event.Kind{Warn: "shared value was deleted by somebody else"}
	eventEnds        = event.Kind{Warn: "shared value ends"}
)
