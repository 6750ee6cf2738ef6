package framework

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/hooks"
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
