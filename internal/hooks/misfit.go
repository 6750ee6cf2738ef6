package hooks

import (
	"fmt"
	"reflect"
)

// Misfit says what is wrong with a method of a hook that has the name of an
// event's method, and is not called for the event. It is empty if there is no
// such method. The hook is not nil.
func Misfit(hook any) string {
	mu.Lock()
	defer mu.Unlock()
	t := reflect.TypeOf(hook)
	for _, kind := range known {
		for i := range kind.NumMethod() {
			method := kind.Method(i)
			if calls(t, method.Name) {
				continue // for this event, or for another one with a method of that name
			}
			if fault := misfit(hook, method); fault != "" {
				return fault
			}
		}
	}
	return ""
}

// calls reports whether a hook's method of this name is called for an event. The
// caller holds mu.
func calls(hook reflect.Type, name string) bool {
	for _, kind := range known {
		if _, named := kind.MethodByName(name); named && hook.Implements(kind) {
			return true
		}
	}
	return false
}

func misfit(hook any, want reflect.Method) string {
	if has := reflect.ValueOf(hook).MethodByName(want.Name); has.IsValid() {
		return fmt.Sprintf("method %s has the type %v, want %v", want.Name, has.Type(), want.Type)
	}
	if _, ok := reflect.PointerTo(reflect.TypeOf(hook)).MethodByName(want.Name); ok {
		return fmt.Sprintf("method %s has a pointer receiver: pass a pointer", want.Name)
	}
	return ""
}
