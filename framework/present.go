package framework

import (
	"fmt"
	"reflect"

	"github.com/go-zookeeper/zk"
)

// Arguments that are nil are errors of the call that gets them, or of the first
// call of the object that was made with them, and never a panic. Such an error
// matches zk.ErrBadArguments and holds a *ConfigError that names the argument.

// apply calls the options of a call. One that is nil is an error.
func apply[T any, O ~func(*T)](to *T, opts []O) error {
	for _, opt := range opts {
		if opt == nil {
			return fmt.Errorf("%w: %w", zk.ErrBadArguments, &ConfigError{"option", "nil", "must not be nil"})
		}
		opt(to)
	}
	return nil
}

// present reports whether there is something in an interface: neither nothing
// nor a nil pointer, whose methods would panic.
func present(v any) bool {
	if v == nil {
		return false
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return !r.IsNil()
	default:
		return true
	}
}
