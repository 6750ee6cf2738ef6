package framework

import (
	"fmt"
	"reflect"

	"github.com/go-zookeeper/zk"
)

// ConfigError says which argument or option cannot be used, and why. New and
// every operation return it for a nil option and for a value that has no
// meaning: it is never a panic, and never ignored. The recipes return it, too.
//
// errors.Is finds zk.ErrBadArguments in it. In one about an access control list
// it also finds zk.ErrInvalidACL, and in one about a mode zk.ErrInvalidFlags.
type ConfigError struct {
	Name   string // such as "session timeout"
	Value  string
	Reason string

	kind error // what errors.Is finds beside zk.ErrBadArguments, or nil
}

// Error returns a sentence such as: invalid session timeout "0s":
// must be at least 10ms.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("invalid %s %q: %s", e.Name, e.Value, e.Reason)
}

// Is reports whether the target is an error that a ConfigError matches.
func (e *ConfigError) Is(target error) bool {
	return target == zk.ErrBadArguments || e.kind != nil && target == e.kind
}

func (e *ConfigError) kindOrBadArguments() error {
	if e.kind != nil {
		return e.kind
	}
	return zk.ErrBadArguments
}

func badArgument(name, value, reason string) *ConfigError {
	return &ConfigError{Name: name, Value: value, Reason: reason}
}

// isNil is the error of an argument that must not be nil.
func isNil(name string) *ConfigError {
	return badArgument(name, "nil", "must not be nil")
}

// invalid is badArgument for an error that also matches a kind.
func invalid(kind error, name, value, reason string) *ConfigError {
	return &ConfigError{name, value, reason, kind}
}

// apply calls the options of an operation. One that is nil is an error.
func apply[T any, O ~func(*T)](to *T, opts []O) error {
	for _, opt := range opts {
		if opt == nil {
			return isNil("option")
		}
		opt(to)
	}
	return nil
}

// present reports whether an interface holds something that can be called:
// neither nothing nor a nil pointer, whose methods would panic.
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
