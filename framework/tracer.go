package framework

import (
	"context"
	"errors"
	"time"
)

// Tracer is told of every operation and every state of a client; see WithTracer. Package framework knows no tracing
// system: an implementation makes spans, metrics or log lines of what it is told. Its methods are called by many
// goroutines at the same time, without a lock, and must not panic.
//
// Embed NoTracer, so that methods can be added here. Other packages, such as recipes, tell a Tracer more if it has more
// methods: each defines an interface of its own and asks whether Client.Tracer has it.
type Tracer interface {
	// StartOperation is called when an operation begins, with its context, and returns the context for the rest of it:
	// ctx itself, or one that is derived from it.
	StartOperation(ctx context.Context, op Operation) context.Context

	// EndOperation is called once for each StartOperation, with the context that that one returned, before the
	// operation returns.
	EndOperation(ctx context.Context, end OperationEnd)

	// ClientOpened is called by New, before anything else, and ClientClosed by Close, after everything else: by then
	// nothing of the client goes on. A Tracer may serve several clients.
	ClientOpened(c *Client)
	ClientClosed(c *Client)

	// StateChanged is called for every state, in order, on one goroutine of the client. A slow one delays nobody and
	// only hears later. Close waits for a call under way, and ends the calls.
	StateChanged(change StateChange)
}

// Operation is what a Tracer is told of an operation when it begins. Calls with arguments that cannot be used never
// begin. The client's own clean-up is no operation.
type Operation struct {
	Name   string // as in OpError, such as "create"; a read that sets a watch is named like one that sets none
	Path   string // the caller's: of the view that the operation was called on
	Chroot string // what the server's name for the path has before it; empty if there is nothing
}

// OperationEnd is what a Tracer is told of an operation when it ends.
type OperationEnd struct {
	Operation
	Start time.Time // when it began
	Err   error     // nil, or an *OpError

	// Attempts is how often the operation got as far as a connected session. It is 0 if there was none in time.
	Attempts int

	// Server is the address of the server of the last attempt.
	Server string
}

// NoTracer is a Tracer that does nothing, to be embedded in others.
type NoTracer struct{}

// StartOperation returns ctx.
func (NoTracer) StartOperation(ctx context.Context, _ Operation) context.Context { return ctx }

// EndOperation does nothing.
func (NoTracer) EndOperation(context.Context, OperationEnd) {}

// ClientOpened does nothing.
func (NoTracer) ClientOpened(*Client) {}

// ClientClosed does nothing.
func (NoTracer) ClientClosed(*Client) {}

// StateChanged does nothing.
func (NoTracer) StateChanged(StateChange) {}

// Tracer returns the Tracer set by WithTracer, or nil. Packages that are built on the client look for more methods in
// it.
func (c *Client) Tracer() Tracer { return c.cfg.tracer }

// traced is run with a Tracer.
func (c *Client) traced(ctx context.Context, op, path string, inDoubt func(error) bool, attempt func(context.Context, *Session) error) error {
	end := OperationEnd{Operation: Operation{op, path, c.chroot}, Start: time.Now()}
	ctx = c.cfg.tracer.StartOperation(ctx, end.Operation)
	end.Err = &OpError{op, path, errPanicked} // unless it returns
	defer func() { c.cfg.tracer.EndOperation(ctx, end) }()
	end.Err = c.run(ctx, op, path, inDoubt, func(ctx context.Context, s *Session) error {
		end.Attempts++
		end.Server = s.address()
		return attempt(ctx, s)
	})
	return end.Err
}

var errPanicked = errors.New("panicked")

// address returns the address of the newest connection, or of the newest attempt to make one.
func (s *Session) address() string {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.server
}
