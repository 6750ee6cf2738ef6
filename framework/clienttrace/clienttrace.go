// Package clienttrace defines what a tracing system is told of a client: of its
// operations, of its connection states, and of its beginning and end. It is to
// package framework what net/http/httptrace is to net/http. Only those who
// write a tracer need it; package tracing implements it for OpenTelemetry.
//
// Package framework knows no tracing system. An implementation of [Tracer] is
// given to framework.WithTracer, and makes spans, metrics or log lines of what
// it is told.
package clienttrace

import (
	"context"
	"time"

	"github.com/gocurator/curator/state"
)

// Tracer is told of every operation and every state of a client. Many
// goroutines call the methods at the same time, without a lock. A panic of a
// method that an operation calls is that of the operation, which leaves nothing
// behind. A panic of any other call ends the process.
//
// They may block. An operation that you call takes as long as its Tracer does.
// But a Tracer holds up no session. In Close, in background work, and when a
// lock is released, the client and its recipes call it by a [Teller]: they wait
// for it no longer than a second, and no longer than a tenth of a second when
// their context has ended.
//
// Embed [NoTracer], so that methods can be added here. Packages that are built
// on the client, such as the recipes, tell a Tracer more if it has more
// methods: each defines an interface of its own, and asks whether the client's
// Tracer has it. The interface of the recipes is locktrace.Tracer.
//
// A Tracer that was made with options that cannot be used says so in a method
// Err() error. framework.New asks for it, and returns the error.
type Tracer interface {
	// StartOperation is called when an operation begins, with its context, and
	// returns the context for the rest of it: ctx itself, or one that is
	// derived from it.
	StartOperation(ctx context.Context, op Operation) context.Context

	// EndOperation is called once for each StartOperation, with the context
	// that StartOperation returned. The operation returns after that, unless a
	// Teller makes the call, which may come later.
	EndOperation(ctx context.Context, end OperationEnd)

	// ClientOpened is called by New, before anything else, and ClientClosed by
	// Close, after everything else: by then nothing of the client goes on, but
	// for calls of the Tracer that are overdue. A Tracer may serve several
	// clients.
	ClientOpened(c Client)
	ClientClosed(c Client)

	// StateChanged is called for every state, in order, one call after the
	// other. A slow one delays nobody and only hears later. Close waits for the
	// calls, but no longer than a second, and then makes no more of them.
	StateChanged(change StateChange)
}

// Client is a client as its tracer sees it. All that a tracer is told about one
// client has the same Client in it, which can be compared and be the key of a
// map.
type Client interface {
	// ServiceName returns what framework.WithServiceName says, or the default.
	ServiceName() string

	// SessionID returns the id of the present session, or 0 if there is none.
	SessionID() int64

	// State returns the state of the connection now.
	State() state.State

	// Watches returns how many watches the server has for the client.
	Watches() int
}

// Operation tells a Tracer of an operation when it begins. Calls with arguments
// that cannot be used never begin. The client's own clean-up is no operation.
type Operation struct {
	Name   string // as in framework.OpError, such as "create"; a read that sets a watch is named like one that sets none
	Path   string // the caller's: of the view that the operation was called on
	Chroot string // what the server's name for the path has before it; empty if there is nothing
}

// OperationEnd tells a Tracer of an operation when it ends.
type OperationEnd struct {
	Operation
	Start time.Time // when it began
	Err   error     // nil, or a *framework.OpError

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

// NoTracer is a Tracer that does nothing, to be embedded in others.
type NoTracer struct{}

// StartOperation returns ctx.
func (NoTracer) StartOperation(ctx context.Context, _ Operation) context.Context { return ctx }

// EndOperation does nothing.
func (NoTracer) EndOperation(context.Context, OperationEnd) {}

// ClientOpened does nothing.
func (NoTracer) ClientOpened(Client) {}

// ClientClosed does nothing.
func (NoTracer) ClientClosed(Client) {}

// StateChanged does nothing.
func (NoTracer) StateChanged(StateChange) {}
