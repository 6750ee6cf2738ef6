package framework

import (
	"fmt"
	"reflect"

	"github.com/gocurator/curator/framework/clienttrace"
)

// hiddenFault returns an error if a Tracer embeds another one in an interface,
// and so hides methods of it. Packages that are built on the client ask a
// Tracer for more methods than clienttrace.Tracer has, and would tell nothing
// to one that does not show them.
func hiddenFault(t clienttrace.Tracer) error {
	v := reflect.ValueOf(t)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.Anonymous || !field.IsExported() || field.Type.Kind() != reflect.Interface {
			continue
		}
		inner, ok := v.Field(i).Interface().(clienttrace.Tracer)
		if !ok {
			continue
		}
		if method := methodOnlyOf(inner, t); method != "" {
			return badArgument("tracer", fmt.Sprintf("%T", t), fmt.Sprintf(
				"hides the method %s of the %T that it embeds: embed that type, and not an interface", method, inner))
		}
		if err := hiddenFault(inner); err != nil {
			return err
		}
	}
	return nil
}

// methodOnlyOf returns the name of a method that inner has and outer has not.
func methodOnlyOf(inner, outer clienttrace.Tracer) string {
	methods, shown := reflect.TypeOf(inner), reflect.TypeOf(outer)
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if _, ok := shown.MethodByName(name); !ok {
			return name
		}
	}
	return ""
}
