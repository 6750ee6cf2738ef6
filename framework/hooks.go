package framework

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/reason"
)

// HookKind is a kind of event that a recipe tells the hooks of a client. T is
// the interface of the hooks that hear of it, with one method. It is for authors
// of recipes, who keep it in a variable of their package:
//
//	var hookStarted = framework.NewHookKind[HookNodeStarted]()
type HookKind[T any] struct{ kind hooks.Kind[T] }

// NewHookKind makes a kind of event known. A hook that hears of no kind that is
// known when the client is made is an error of New.
func NewHookKind[T any]() HookKind[T] { return HookKind[T]{hooks.Register[T]()} }

// Of returns the client's hooks that hear of this kind of event, in the order of
// WithHooks. The caller must not change the slice.
func (k HookKind[T]) Of(c *Client) []T { return k.kind.Of(c.hooks) }

// The events of the client.
var (
	hookStartOperation = NewHookKind[clienttrace.HookStartOperation]()
	hookEndOperation   = NewHookKind[clienttrace.HookEndOperation]()
	hookClientOpened   = NewHookKind[clienttrace.HookClientOpened]()
	hookClientClosed   = NewHookKind[clienttrace.HookClientClosed]()
	hookStateChanged   = NewHookKind[clienttrace.HookStateChanged]()
)

// hookFault returns an error if a hook would hear less than its author meant.
func hookFault(h clienttrace.Hook) error {
	if !present(h) {
		return badArgument("hook", "nil", "must not be nil; leave the option out for none")
	}
	if invalid, ok := h.(interface{ Err() error }); ok && invalid.Err() != nil {
		return invalid.Err()
	}
	if misfit := hooks.Misfit(h); misfit != "" {
		return badArgument("hook", fmt.Sprintf("%T", h), misfit)
	}
	if len(hooks.HeardBy(h)) == 0 {
		return badArgument("hook", fmt.Sprintf("%T", h),
			"has no method for an event; see the interfaces whose names begin with Hook in clienttrace and in the packages of recipes")
	}
	return nil
}

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
func (c *Client) told(ctx context.Context, op, path string, w writing, try attempt) error {
	end := clienttrace.OperationEnd{Operation: clienttrace.Operation{Name: op, Path: path, Chroot: c.chroot}, Start: time.Now()}
	teller := operationTeller{of: c, by: teller.FromContext(ctx)}
	end.Err = &OpError{op, path, reason.ErrPanicked} // it stays if the operation panics
	ctx = teller.start(ctx, end)
	defer func() { teller.end(ctx, end) }()
	end.Err = c.run(ctx, op, path, w, func(ctx context.Context, s *Session) error {
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
