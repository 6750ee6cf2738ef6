// Package chain tells many readers what happens, each thing once and in order, at each reader's own pace: none can hold up
// another or the writer, and none misses anything. What all have read is garbage.
package chain

import "iter"

// Link is one thing that has happened, and the way to those that follow.
type Link[T any] struct {
	Value T

	followed chan struct{} // closed when next is set
	next     *Link[T]
}

// New returns the first link of a chain. Nobody reads its own value but those who hold it.
func New[T any](value T) *Link[T] {
	return &Link[T]{Value: value, followed: make(chan struct{})}
}

// Append adds a link to the last one, and returns it. Writers must take turns.
func (l *Link[T]) Append(value T) *Link[T] {
	l.next = New(value)
	close(l.followed)
	return l.next
}

// Followed is closed when there is another link.
func (l *Link[T]) Followed() <-chan struct{} { return l.followed }

// Next returns the link that follows, once Followed is closed.
func (l *Link[T]) Next() *Link[T] { return l.next }

// Following returns the values behind l, until there is none and one of the channels is closed.
func (l *Link[T]) Following(end, other <-chan struct{}) iter.Seq[T] {
	return func(yield func(T) bool) {
		for at := l; at.wait(end, other); at = at.next {
			if !yield(at.next.Value) {
				return
			}
		}
	}
}

// wait reports whether there is another link, or waits for it. What was said before the end counts, also if the end came
// right behind it.
func (l *Link[T]) wait(end, other <-chan struct{}) bool {
	select {
	case <-l.followed:
		return true
	case <-end:
	case <-other:
	}
	select {
	case <-l.followed:
		return true
	default:
		return false
	}
}
