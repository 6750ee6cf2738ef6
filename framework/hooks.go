package framework

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/hooks"
)

// HookKind is a kind of event that a recipe reports to the hooks of a client. T is the
// interface of the hooks that receive the event, with one method. Authors of recipes
// keep a HookKind in a package variable:
//
//	var hookStarted = framework.NewHookKind[HookNodeStarted]()
type HookKind[T any] struct{ kind hooks.Kind[T] }

// NewHookKind makes a kind of event known. New returns an error for a hook without a
// method for any known kind.
func NewHookKind[T any]() HookKind[T] { return HookKind[T]{hooks.Register[T]()} }

// Of returns the client's hooks that receive this kind of event, in the order of
// WithHooks. The caller must not change the slice.
func (k HookKind[T]) Of(c *Client) []T { return k.kind.Of(c.hooks) }

// The events of the client.
var (
	hookStartOperation = NewHookKind[clienttrace.HookStartOperation]()
	hookEndOperation   = NewHookKind[clienttrace.HookEndOperation]()
	hookClientOpened   = NewHookKind[clienttrace.HookClientOpened]()
	hookClientClosed   = NewHookKind[clienttrace.HookClientClosed]()
	hookStateChanged   = NewHookKind[clienttrace.HookStateChanged]()
	hookLine           = NewHookKind[hooks.HookLine]()
)

// hookFault returns the error of a hook that cannot be used.
func hookFault(h clienttrace.Hook) error {
	if !present(h) {
		return badArgument("hook", "nil", "must not be nil; leave the option out for none")
	}
	if invalid, ok := h.(interface{ Err() error }); ok && invalid.Err() != nil {
		return invalid.Err()
	}
	if !hooks.IsCalled(h) {
		return badArgument("hook", fmt.Sprintf("%T", h),
			"has no method for an event; see the interfaces in clienttrace and in recipes whose names begin with Hook")
	}
	return nil
}

// runWithHooks is run, with calls of the client's hooks before and after it.
func (c *Client) runWithHooks(ctx context.Context, op, path string, w writing, try attempt) error {
	end := clienttrace.OperationEnd{Operation: clienttrace.Operation{Name: op, Path: path, Chroot: c.chroot},
		Start: time.Now()}
	for _, h := range hookStartOperation.Of(c) {
		ctx = cmp.Or(h.StartOperation(ctx, end.Operation), ctx)
	}
	end.Err = c.run(ctx, op, path, w, func(ctx context.Context, s *Session) error {
		end.Attempts++
		end.Server = s.address()
		return try(ctx, s)
	})
	for _, h := range hookEndOperation.Of(c) {
		h.EndOperation(ctx, end)
	}
	return end.Err
}
