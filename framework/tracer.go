package framework

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/internal/reason"
)

// tracerFault returns the error of a Tracer that was made with options that
// cannot be used.
func tracerFault(t clienttrace.Tracer) error {
	if invalid, ok := t.(interface{ Err() error }); ok {
		return invalid.Err()
	}
	return nil
}

// traced is run with a Tracer.
func (c *Client) traced(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	end := clienttrace.OperationEnd{Operation: clienttrace.Operation{Name: op, Path: path, Chroot: c.chroot}, Start: time.Now()}
	told := c.tellerOf(ctx)
	ctx = told.start(ctx, end.Operation)
	end.Err = &OpError{op, path, reason.ErrPanicked} // unless it returns
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
	to      clienttrace.Tracer
	by      *teller.Teller  // nil to call it directly
	started context.Context // what StartOperation has returned, if it was called; for calls by the Teller
}

func (c *Client) tellerOf(ctx context.Context) *operationTeller {
	return &operationTeller{to: c.cfg.tracer, by: teller.FromContext(ctx)}
}

// start returns the context for the rest of the operation.
func (t *operationTeller) start(ctx context.Context, op clienttrace.Operation) context.Context {
	if t.by == nil {
		return t.to.StartOperation(ctx, op)
	}
	if t.by.Tell(ctx, func() { t.started = t.to.StartOperation(ctx, op) }) {
		return t.started
	}
	return ctx // the operation goes on without it
}

func (t *operationTeller) end(ctx context.Context, end clienttrace.OperationEnd) {
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
