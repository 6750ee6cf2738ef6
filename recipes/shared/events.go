package shared

import (
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// A Value returns these errors, and the errors of package framework. Match them with
// errors.Is. The error of an invalid path matches zk.ErrInvalidPath. The error of another
// invalid argument is a *framework.ConfigError and matches zk.ErrBadArguments.
var (
	// ErrClosed means that the Value was closed.
	ErrClosed = errors.New("shared value is closed")

	// ErrNotSynced means that the node has not been read yet; see WaitSynced.
	ErrNotSynced = errors.New("shared value has not been read yet")

	// ErrNodeReplaced means that TrySet has overwritten a value other than previous: the
	// node was deleted and re-created, and the new node had the same version. ZooKeeper
	// compares nothing else.
	ErrNodeReplaced = errors.New("value was written over a node that was re-created")
)

func bad(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: fmt.Sprint(value), Reason: reason}
}

// ended wraps the error that has ended the Value.
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
	Changed     Event = iota // the node has changed, or this Value has written it
	ReadAgain                // the Value reads the node again after an interruption of the connection
	Undecodable              // the codec could not decode the node's data
)

// HookSharedValue is a clienttrace.Hook. The client's emitter calls SharedValue for every
// event of every Value of the client.
type HookSharedValue interface {
	SharedValue(event Event)
}

var hookSharedValue = framework.NewHookKind[HookSharedValue]()

func hookFor(e Event) event.Hook {
	return event.Call(hookSharedValue, func(h HookSharedValue) { h.SharedValue(e) })
}

// Events and log lines of a Value.
var (
	eventChanged     = event.Kind{Hook: hookFor(Changed)}
	eventReadAgain   = event.Kind{Hook: hookFor(ReadAgain)}
	eventUndecodable = event.Kind{Hook: hookFor(Undecodable)}
	eventSetBack     = event.Kind{Warn: "zookeeper has gone back to an older state, and the shared value with it"}
	eventDeleted     = event.Kind{Warn: "shared value was deleted by another client"}
	eventEnds        = event.Kind{Warn: "shared value ends"}
)
