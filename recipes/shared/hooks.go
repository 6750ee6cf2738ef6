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

// HookSharedValue is a clienttrace.Hook that is told what happens to every Value
// of a client. A clienttrace.Teller makes the calls: a hook that blocks holds up
// no Value. The method must not panic.
type HookSharedValue interface {
	SharedValue(event Event)
}

var hookSharedValue = framework.NewHookKind[HookSharedValue]()

func (r *replica) trace(event Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traceLocked(event)
}

func (r *replica) traceLocked(event Event) {
	if r.Client == nil { // in tests of the order of reads
		return
	}
	for _, h := range hookSharedValue.Of(r.Client) {
		if r.teller == nil {
			r.teller = framework.Extend(r.Client).NewTeller()
		}
		r.teller.Post(func() { h.SharedValue(event) })
	}
}
