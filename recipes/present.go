package recipes

import (
	"fmt"
	"reflect"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// isNil is the error of an argument that must not be nil, as the framework has
// it. The first call of an object that was made with one returns it.
func isNil(name string) error {
	return fmt.Errorf("%w: %w", zk.ErrBadArguments, &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"})
}

// errNoWork is the error of work that must not be nil.
var errNoWork = fmt.Errorf("%w: work is nil", zk.ErrBadArguments)

// absent reports whether there is no lock in an interface: nothing, or a nil
// pointer, whose methods would panic.
func absent(l Locker) bool {
	if l == nil {
		return true
	}
	r := reflect.ValueOf(l)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// orZero returns what a value was made of. Of one that no constructor has made
// that is a zero value, whose calls are errors.
func orZero[T any](of *T) *T {
	if of == nil {
		return new(T)
	}
	return of
}
