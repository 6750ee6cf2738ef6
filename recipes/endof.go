package recipes

import "context"

// endOf returns a context that ends with end and has the values of values, and behind those, the values of end. The end
// of values must have been taken away by context.WithoutCancel: that also hides the value by which package context
// finds the parent of a context, so that it finds the right one.
func endOf(end, values context.Context) context.Context { return contextOf{end, values} }

type contextOf struct {
	context.Context
	values context.Context
}

func (c contextOf) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}
