// Package clienttrace defines the events that a client sends to its hooks: operations,
// connection states, and the beginning and end of the client. It is to package framework
// what net/http/httptrace is to net/http. Only the author of a hook needs this package;
// package tracing has a hook for OpenTelemetry.
//
// Pass a [Hook] to framework.WithHooks. A Hook makes spans, metrics or log lines of the
// events it receives.
package clienttrace

import (
	"context"
	"time"

	"github.com/gocurator/curator/state"
)

// Hook is anything with a method for one event or more. Each event has an
// interface, whose name is Hook and the name of the method:
//
//	type slowCalls struct{ log *slog.Logger }
//
//	func (s slowCalls) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
//		if took := time.Since(end.Start); took > time.Second {
//			s.log.Warn("slow", "operation", end.Name, "path", end.Path, "took", took)
//		}
//	}
//
//	client, err := framework.New(servers, framework.WithHooks(slowCalls{log}, tracing.New()))
//
// The compiler can check that a hook receives an event:
//
//	var _ clienttrace.HookEndOperation = slowCalls{}
//
// The events of the client are in this package. The recipes have more, such as
// locktrace.HookStartAcquire and nodes.HookNodeStarted. A client asks each of its
// hooks by itself. So nobody has to wrap another one's hook, and none is lost.
//
// Many goroutines call a hook at the same time, without a lock. The section "Your
// code" of package framework has the rule for hooks: they run in place, must return
// soon, and must not panic.
//
// A hook that was made with options that cannot be used says so in a method
// Err() error. framework.New asks for it, and returns the error.
type Hook any

// HookStartOperation is called when an operation begins, with its context, and
// returns the context for the rest of it: ctx itself, or one that is derived from
// it. The next hook gets that. Nil stands for ctx.
type HookStartOperation interface {
	StartOperation(ctx context.Context, op Operation) context.Context
}

// HookEndOperation is called when an operation ends, with the context that the
// last StartOperation returned, if there is one. The operation returns after
// that.
type HookEndOperation interface {
	EndOperation(ctx context.Context, end OperationEnd)
}

// HookClientOpened is called by framework.New, before anything else. A hook may
// serve several clients.
type HookClientOpened interface {
	ClientOpened(c Client)
}

// HookClientClosed is called at the end of Close, after everything else: nothing of
// the client goes on by then. If an earlier call blocks, Close does not wait for this
// one.
type HookClientClosed interface {
	ClientClosed(c Client)
}

// HookStateChanged is called for every state, in order, by the client's emitter.
type HookStateChanged interface {
	StateChanged(change StateChange)
}

// Client is a client as its hooks see it. All events of one client have the same Client,
// which can be compared and used as the key of a map. Its dynamic type is
// framework.Extension, of the root view, for hooks that need more of the client, such as
// its Status.
type Client interface {
	// ServiceName returns what framework.WithServiceName says, or the default.
	ServiceName() string

	// SessionID returns the id of the present session, or 0 if there is none.
	SessionID() int64

	// State returns the state of the connection now.
	State() state.State
}

// Operation tells a hook of an operation when it begins. Calls with arguments
// that cannot be used never begin. The client's own clean-up is no operation.
type Operation struct {
	Name   string // the same as in framework.OpError, such as "create"; a read that sets a watch is named like one that sets none
	Path   string // the caller's path, in the view that the operation was called on
	Chroot string // what the server's name for the path has before it; empty if there is nothing
}

// OperationEnd tells a hook of an operation when it ends.
type OperationEnd struct {
	Operation
	Start time.Time
	Err   error // nil, or a *framework.OpError

	// Attempts is how often the operation got as far as a connected session. It
	// is 0 if there was none in time.
	Attempts int

	// Server is the address of the server of the last attempt.
	Server string
}

// StateChange is a transition of the connection state, with its circumstances.
type StateChange struct {
	Client Client
	State  state.State
	Time   time.Time

	// SessionID is the id of the session that the transition is about, or 0 if
	// it has never been connected.
	SessionID int64

	// Server is the address of the newest connection, or of the newest attempt
	// to make one.
	Server string

	// Cause says why the state is Lost, with an error that matches
	// framework.ErrSessionLost if there was a session. Otherwise it is the
	// error of the newest attempt to connect, in Suspended and Lost, if there
	// was one since the last connection.
	Cause error
}
