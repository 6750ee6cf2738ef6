package shared

import "context"

// SetVersioned is Set, and returns what it has written. A history of calls
// needs to know in which order they were carried out.
func (v *Value[T]) SetVersioned(ctx context.Context, value T) (now Versioned[T], err error) {
	s, err := v.set(ctx, value)
	if err != nil {
		return now, err
	}
	return v.versioned(s)
}
