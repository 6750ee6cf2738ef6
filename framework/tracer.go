package framework

import (
	"context"
	"time"
)

// Tracer is told of every operation and every state of a client; see
// WithTracer. Package framework knows no tracing system: an implementation
// makes spans, metrics or log lines of what it is told. Many goroutines call
// the methods at the same time, without a lock. The methods must not panic.
//
// They may block. An operation that you call takes as long as its Tracer does.
// But a Tracer holds up no session. In Close, in background work, and when a
// lock is released, the client and its recipes call it by a Teller: they wait
// for it no longer than a second, and no longer than a tenth of a second when
// their context has ended.
//
// Embed NoTracer, so that methods can be added here. Other packages, such as
// recipes, tell a Tracer more if it has more methods: each defines an interface
// of its own and asks whether Client.Tracer has it.
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
	ClientOpened(c *Client)
	ClientClosed(c *Client)

	// StateChanged is called for every state, in order, one call after the
	// other. A slow one delays nobody and only hears later. Close waits for the
	// calls, but no longer than a second, and then makes no more of them.
	StateChanged(change StateChange)
}

// tracerFault returns the error of a Tracer that was made with options that
// cannot be used.
func tracerFault(t Tracer) error {
	if invalid, ok := t.(interface{ Err() error }); ok {
		return invalid.Err()
	}
	return nil
}

// Operation tells a Tracer of an operation when it begins. Calls with arguments
// that cannot be used never begin. The client's own clean-up is no operation.
type Operation struct {
	Name   string // as in OpError, such as "create"; a read that sets a watch is named like one that sets none
	Path   string // the caller's: of the view that the operation was called on
	Chroot string // what the server's name for the path has before it; empty if there is nothing
}

// OperationEnd tells a Tracer of an operation when it ends.
type OperationEnd struct {
	Operation
	Start time.Time // when it began
	Err   error     // nil, or an *OpError

	// Attempts is how often the operation got as far as a connected session. It
	// is 0 if there was none in time.
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

// Tracer returns the Tracer set by WithTracer, or nil. Packages that are built
// on the client look for more methods in it.
func (c *Client) Tracer() Tracer { return c.cfg.tracer }

// traced is run with a Tracer.
func (c *Client) traced(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	end := OperationEnd{Operation: Operation{op, path, c.chroot}, Start: time.Now()}
	told := c.tellerOf(ctx)
	ctx = told.start(ctx, end.Operation)
	end.Err = &OpError{op, path, errPanicked} // unless it returns
	defer func() { told.end(ctx, end) }()
	end.Err = c.run(ctx, op, path, mayBeApplied, func(ctx context.Context, s *Session) error {
		end.Attempts++
		end.Server = s.address()
		return try(ctx, s)
	})
	return end.Err
}

// operationTeller tells the Tracer of one operation.
type operationTeller struct {
	to      Tracer
	by      *Teller         // nil to call it directly
	started context.Context // what StartOperation has returned, if it was called; for calls by the Teller
}

func (c *Client) tellerOf(ctx context.Context) *operationTeller {
	by, _ := ctx.Value(tellerKey{}).(*Teller)
	return &operationTeller{to: c.cfg.tracer, by: by}
}

// start returns the context for the rest of the operation.
func (t *operationTeller) start(ctx context.Context, op Operation) context.Context {
	if t.by == nil {
		return t.to.StartOperation(ctx, op)
	}
	if t.by.Tell(ctx, func() { t.started = t.to.StartOperation(ctx, op) }) {
		return t.started
	}
	return ctx // the operation goes on without it
}

func (t *operationTeller) end(ctx context.Context, end OperationEnd) {
	if t.by == nil {
		t.to.EndOperation(ctx, end)
		return
	}
	t.by.Post(func() {
		if t.started != nil {
			t.to.EndOperation(t.started, end)
		}
	})
}

// address returns the address of the newest connection, or of the newest
// attempt to make one.
func (s *Session) address() string {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.server
}
