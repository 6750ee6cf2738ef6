// Package hooks finds which of a program's hooks receive an event. Each kind of event has
// an interface with one method.
package hooks

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
)

// Kind is a kind of event. T is the interface of the hooks that receive the event.
type Kind[T any] struct{}

var (
	mu    sync.Mutex // protects known
	known []reflect.Type
)

// Register makes a kind of event known. Call Register to initialize a package's
// variable, so that the kind is known before a client gets a hook.
func Register[T any]() Kind[T] {
	mu.Lock()
	defer mu.Unlock()
	known = append(known, reflect.TypeFor[T]())
	return Kind[T]{}
}

// IsCalled reports whether a hook has a method for an event.
func IsCalled(hook any) bool {
	mu.Lock()
	defer mu.Unlock()
	t := reflect.TypeOf(hook)
	return t != nil && slices.ContainsFunc(known, t.Implements)
}

// List has the hooks of one client. It caches the hooks of each kind.
type List struct {
	all    []any
	byKind sync.Map // a []T for the type of each Kind's T; the kinds are few and never removed
}

// NewList returns a list of these hooks.
func NewList(all []any) *List { return &List{all: all} }

// Of returns the hooks that receive this kind of event, in their order.
func (Kind[T]) Of(l *List) []T {
	if len(l.all) == 0 {
		return nil
	}
	kind := reflect.TypeFor[T]()
	if found, ok := l.byKind.Load(kind); ok {
		return found.([]T)
	}
	var found []T
	for _, hook := range l.all {
		if h, ok := hook.(T); ok {
			found = append(found, h)
		}
	}
	l.byKind.Store(kind, found)
	return found
}

// Line is an event that only the log receives.
type Line struct {
	Context context.Context // a handler may take the trace from it
	Level   slog.Level
	Text    string
	Attrs   []slog.Attr
}

// HookLine is called for every Line. A program cannot implement it.
type HookLine interface{ Line(Line) }
