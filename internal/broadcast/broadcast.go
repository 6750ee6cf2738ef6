// Package broadcast is a log with one writer and any number of readers.
//
// Every reader sees each value once, in order, and at its own pace:
//
//   - A slow reader delays neither the writer nor another reader.
//   - No reader misses a value. A value stays in memory until every reader has
//     passed it; then the garbage collector takes it.
//   - A reader begins at the node that it holds and sees the values that are appended
//     after that node.
package broadcast

import "iter"

// Node is one value in the log, with a link to the next node. All methods except Append
// may be called by any number of goroutines.
type Node[T any] struct {
	Value T

	done chan struct{} // closed when next is set
	next *Node[T]
}

// New returns the first node of a log. Only a goroutine that holds this node sees its
// value: Next and All return later values.
func New[T any](value T) *Node[T] {
	return &Node[T]{Value: value, done: make(chan struct{})}
}

// Append adds a value after n, which must be the last node, and returns the new last
// node. Calls of Append must not run concurrently.
func (n *Node[T]) Append(value T) *Node[T] {
	n.next = New(value)
	close(n.done)
	return n.next
}

// Done is closed when n is no longer the last node.
func (n *Node[T]) Done() <-chan struct{} { return n.done }

// Next returns the node after n. It may be called once Done is closed.
func (n *Node[T]) Next() *Node[T] { return n.next }

// All returns the values after n, and waits for those to come. The sequence ends when
// one of the two channels is closed, after every value that was appended before. A nil
// channel never ends it. The values in first come before all other values, and only
// this reader sees them.
func (n *Node[T]) All(end, other <-chan struct{}, first ...T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range first {
			if !yield(v) {
				return
			}
		}
		for at := n; at.wait(end, other); at = at.next {
			if !yield(at.next.Value) {
				return
			}
		}
	}
}

// wait waits until there is a next node or one of the channels is closed, and
// reports whether there is a next node. A value that was appended right before
// the end still counts.
func (n *Node[T]) wait(end, other <-chan struct{}) bool {
	select {
	case <-n.done:
		return true
	case <-end:
	case <-other:
	}
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}
