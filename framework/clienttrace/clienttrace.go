// Package clienttrace defines the events that a client sends to its hooks: operations,
// connection states, and the beginning and end of the client. The package resembles
// net/http/httptrace. Only authors of hooks need this package; package tracing has a
// hook for OpenTelemetry.
//
// Pass a [Hook] to framework.WithHooks. A Hook turns the events into spans, metrics or
// log lines.
//
// # Who calls a hook
//
//   - The goroutine of an operation or acquire calls the hooks about it: the start and
//     the end of an operation, each step of an acquire up to the start of the hold, and
//     the end of the hold by its release.
//   - One goroutine of the client, the emitter, makes all other calls, one after the
//     other and in the order of the events: connection states, revocations and losses of
//     holds, changes of persistent nodes, caches and directories, and the lines of the
//     log, which is a hook, too. While a call blocks, later calls wait for it in memory.
//     framework.Client.Close waits for the emitter for at most a second.
package clienttrace

import (
	"context"
	"time"

	"github.com/gocurator/curator/state"
)

// Hook is any type with methods for one or more events. Each event has an interface,
// whose name is Hook and the name of the method:
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
// This package has the events of the client. The recipes have further events, such as
// locktrace.HookStartAcquire and nodes.HookNodeStarted. A client calls each of its
// hooks independently, so hooks need not wrap other hooks.
//
// Many goroutines call a hook at the same time, without a lock. The section "Your
// code" of package framework has the rule for hooks: they run in place, must return
// soon, and must not panic.
//
// If a hook was created with invalid options, its method Err() error should return that
// error, which framework.New then returns.
type Hook any

// HookStartOperation is called when an operation begins, with its context, and returns
// the context for the rest of the operation: ctx itself, or a context derived from ctx.
// The next hook gets the returned context. Nil stands for ctx.
type HookStartOperation interface {
	StartOperation(ctx context.Context, op Operation) context.Context
}

// HookEndOperation is called when an operation ends, with the context that the last
// StartOperation returned, if any. The operation returns after that.
type HookEndOperation interface {
	EndOperation(ctx context.Context, end OperationEnd)
}

// HookClientOpened is called by framework.New, before anything else. A hook may
// serve several clients.
type HookClientOpened interface {
	ClientOpened(c Client)
}

// HookClientClosed is called at the end of Close, after all other work of the client
// has ended. If an earlier call blocks, Close does not wait for this one.
type HookClientClosed interface {
	ClientClosed(c Client)
}

// HookStateChanged is called for every state, in order, by the client's emitter.
type HookStateChanged interface {
	StateChanged(change StateChange)
}

// Client is a client as its hooks see it. All events of one client have the same Client,
// which can be compared and used as the key of a map. Its dynamic type is
// framework.Extension, for the root view, so hooks can use more of the client, such as
// its Status.
type Client interface {
	// ServiceName returns the name from framework.WithServiceName, or the default.
	ServiceName() string

	// SessionID returns the id of the present session, or 0 if there is none.
	SessionID() int64

	// State returns the state of the connection now.
	State() state.State
}

// Operation describes an operation at its beginning. Calls with invalid arguments never
// begin. The client's own clean-up is not an operation.
type Operation struct {
	Name   string // as in framework.OpError, such as "create"; a read has the same name with and without a watch
	Path   string // the caller's path, in the view of the call
	Chroot string // the prefix that turns Path into the server's path; may be empty
}

// OperationEnd describes an operation at its end.
type OperationEnd struct {
	Operation
	Start time.Time
	Err   error // nil, or a *framework.OpError

	// Attempts is how many attempts of the operation reached a connected session. It is
	// 0 if there was no connected session in time.
	Attempts int

	// Server is the address of the server of the last attempt.
	Server string
}

// StateChange is a transition of the connection state, with its circumstances.
type StateChange struct {
	Client Client
	State  state.State
	Time   time.Time

	// SessionID is the id of the session of the transition, or 0 if it was never
	// connected.
	SessionID int64

	// Server is the address of the newest connection or attempt to connect.
	Server string

	// If there was a session, Cause is the reason for the state Lost, an error that
	// matches framework.ErrSessionLost. Otherwise, in Suspended and Lost, Cause is the
	// error of the newest attempt to connect since the last connection, if any.
	Cause error
}
