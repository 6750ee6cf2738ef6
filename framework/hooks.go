package framework

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/hooks"
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
	if err := hiddenFault(h); err != nil {
		return err
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

// hiddenFault returns an error if a hook embeds another one in an interface, and
// so hides that it hears of more events.
func hiddenFault(h clienttrace.Hook) error {
	v := reflect.ValueOf(h)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.Anonymous || !field.IsExported() || field.Type.Kind() != reflect.Interface || v.Field(i).IsNil() {
			continue
		}
		inner := v.Field(i).Interface()
		if err := cmp.Or(hides(h, inner), hiddenFault(inner)); err != nil {
			return err
		}
	}
	return nil
}

// hides returns an error if outer hears of less than inner does.
func hides(outer, inner clienttrace.Hook) error {
	heard := hooks.HeardBy(outer)
	for _, kind := range hooks.HeardBy(inner) {
		if !slices.Contains(heard, kind) {
			return badArgument("hook", fmt.Sprintf("%T", outer), fmt.Sprintf(
				"hides that the %T in it hears of %s: pass both to WithHooks", inner, kind))
		}
	}
	return nil
}
