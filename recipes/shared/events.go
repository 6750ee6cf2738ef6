package shared

import (
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// A Value returns these errors, and package framework's errors. Match them with
// errors.Is. A path that cannot be used matches zk.ErrInvalidPath. Any other
// such argument is a *framework.ConfigError and matches zk.ErrBadArguments.
var (
	// ErrClosed means that the Value was closed.
	ErrClosed = errors.New("shared value is closed")

	// ErrNotSynced means that the node has not been read yet; see WaitSynced.
	ErrNotSynced = errors.New("shared value has not been read yet")

	// ErrNodeReplaced means that TrySet has overwritten another value than it
	// was told: the node was deleted and re-created meanwhile, and has the same
	// version as the old one had. ZooKeeper compares nothing else.
	ErrNodeReplaced = errors.New("value was written over a node that was re-created")
)

func bad(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: fmt.Sprint(value), Reason: reason}
}

// ended is the error of the end, which was no call.
func (r *replica) ended(why error) error { return r.errorOf("shared value", why) }

func (r *replica) errorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	var named *framework.OpError
	if reason.As(err, &named) && named.Path == r.Path && named.Op == op {
		return err
	}
	return &framework.OpError{Op: op, Path: r.Path, Err: err}
}

// Event is something that happened to a Value.
type Event int

// These are the events of a Value.
const (
	Changed     Event = iota // it has heard of a change of the node, or has written it
	ReadAgain                // it reads the node again, after an interruption of the connection
	Undecodable              // the codec could not read the node's data
)

// HookSharedValue is a clienttrace.Hook that is called for what happens to every
// Value of a client, by the client's emitter.
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
