package framework

import (
	"cmp"
	"context"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/reason"
)

// tellOpened tells the hooks that there is a client, and from now on of its
// states.
func (c *Client) tellOpened() {
	for _, h := range hookClientOpened.Of(c) {
		h.ClientOpened(Extend(c))
	}
	for _, h := range hookStateChanged.Of(c) {
		c.follow(h.StateChanged)
	}
}

// tellClosed returns the last call of the hooks, or nil.
func (c *core) tellClosed() func() {
	those := hookClientClosed.Of(c.root)
	if len(those) == 0 {
		return nil
	}
	return func() {
		for _, h := range those {
			h.ClientClosed(Extend(c.root))
		}
	}
}

// told is run for a client with hooks.
func (c *Client) told(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	end := clienttrace.OperationEnd{Operation: clienttrace.Operation{Name: op, Path: path, Chroot: c.chroot}, Start: time.Now()}
	teller := operationTeller{of: c, by: teller.FromContext(ctx)}
	end.Err = &OpError{op, path, reason.ErrPanicked} // it stays if the operation panics
	ctx = teller.start(ctx, end)
	defer func() { teller.end(ctx, end) }()
	end.Err = c.run(ctx, op, path, mayBeApplied, func(ctx context.Context, s *Session) error {
		end.Attempts++
		end.Server = s.address()
		return try(ctx, s)
	})
	return end.Err
}

// operationTeller tells the hooks of one operation.
type operationTeller struct {
	of      *Client
	by      *teller.Teller  // nil to call them directly
	started context.Context // what the hooks have made of the context, if they were called; for calls by the Teller
}

// start returns the context for the rest of the operation. The argument panicked
// is its end if a hook panics.
func (t *operationTeller) start(ctx context.Context, panicked clienttrace.OperationEnd) context.Context {
	if t.by == nil {
		return t.tellStart(ctx, panicked)
	}
	if t.by.Tell(ctx, func() { t.started = t.tellStart(ctx, panicked) }) {
		return t.started
	}
	return ctx // the operation goes on without it
}

func (t *operationTeller) tellStart(ctx context.Context, panicked clienttrace.OperationEnd) context.Context {
	those, told := hookStartOperation.Of(t.of), 0
	defer func() {
		if told < len(those) { // a hook has panicked, and those before it must not wait for the end
			tellPanicked(ctx, those[:told], panicked)
		}
	}()
	for _, h := range those {
		ctx = cmp.Or(h.StartOperation(ctx, panicked.Operation), ctx)
		told++
	}
	return ctx
}

func tellPanicked(ctx context.Context, started []clienttrace.HookStartOperation, end clienttrace.OperationEnd) {
	hooks.Each(started, func(h clienttrace.HookStartOperation) {
		if h, ok := h.(clienttrace.HookEndOperation); ok {
			h.EndOperation(ctx, end)
		}
	})
}

func (t *operationTeller) end(ctx context.Context, end clienttrace.OperationEnd) {
	if t.by == nil {
		t.tellEnd(ctx, end)
		return
	}
	t.by.Post(func() {
		if t.started != nil {
			t.tellEnd(t.started, end)
		}
	})
}

func (t *operationTeller) tellEnd(ctx context.Context, end clienttrace.OperationEnd) {
	hooks.Each(hookEndOperation.Of(t.of), func(h clienttrace.HookEndOperation) { h.EndOperation(ctx, end) })
}
