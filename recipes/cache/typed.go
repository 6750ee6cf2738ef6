package cache

import (
	"context"
	"fmt"
	"iter"

	"github.com/gocurator/curator/internal/printable"
)

// Typed is a view of a cache whose nodes' data are values of a type. A view
// costs nothing and need not be closed. The zero Typed cannot be used: NewTyped
// makes one:
//
//	addresses, err := cache.NewTyped(services, func(node cache.Node) (a Address, err error) {
//		if len(node.Data) == 0 { // as a rule, a parent
//			return a, nil
//		}
//		return a, json.Unmarshal(node.Data, &a)
//	})
//	...
//	for node, err := range addresses.Children("/services/orders") {
//		if err != nil {
//			log.Print(err) // names the node; the others follow
//			continue
//		}
//		dial(node.Value)
//	}
type Typed[T any] struct {
	cache  *Cache
	decode func(Node) (T, error)
}

// TypedNode is a node with its value.
type TypedNode[T any] struct {
	Node
	Value T
}

// TypedChange is a Change with the values of its nodes.
type TypedChange[T any] struct {
	Change
	Value T // the value of New, for Created and Changed

	// OldValue is the value of Old, for Changed and Deleted. It is the zero
	// value if the data of Old could not be decoded: the reader had the error
	// when that node was New.
	OldValue T
}

// NewTyped returns a view of a cache. The function decode is called whenever a
// node is read from the view, on the goroutine that reads. It must not change
// the node's data. It also gets parents, which usually have no data: it should
// return the zero value for them, or each of them is read with an error. Nil is
// an error that matches zk.ErrBadArguments.
func NewTyped[T any](c *Cache, decode func(Node) (T, error)) (*Typed[T], error) {
	switch {
	case c == nil:
		return nil, bad("cache", "nil", "must not be nil")
	case decode == nil:
		return nil, bad("decode", "nil", "must not be nil")
	}
	return &Typed[T]{c, decode}, nil
}

// Get returns the value of a node, and false if the cache has no such node. A
// node that cannot be decoded is an error that names it and matches decode's.
func (t *Typed[T]) Get(path string) (node TypedNode[T], ok bool, err error) {
	n, ok := t.cache.Get(path)
	if !ok {
		return node, false, nil
	}
	node, err = t.node(n)
	return node, true, err
}

// All returns all nodes, as Cache.All does. A node that cannot be decoded comes
// with an error as Get's, and without a value.
func (t *Typed[T]) All() iter.Seq2[TypedNode[T], error] { return t.nodes(t.cache.All()) }

// Children returns the children of a node, as Cache.Children does, and as All
// does.
func (t *Typed[T]) Children(path string) iter.Seq2[TypedNode[T], error] {
	return t.nodes(t.cache.Children(path))
}

// Changes returns what Cache.Changes returns. A change to data that cannot be
// decoded comes with an error as Get's, and the loop goes on. The end of the
// cache is the last element, as there.
func (t *Typed[T]) Changes(ctx context.Context) iter.Seq2[TypedChange[T], error] {
	return func(yield func(TypedChange[T], error) bool) {
		for ch, err := range t.cache.Changes(ctx) {
			typed := TypedChange[T]{Change: ch}
			if ch.Type == Changed || ch.Type == Deleted {
				old, _ := t.node(ch.Old)
				typed.OldValue = old.Value
			}
			if ch.Type == Created || ch.Type == Changed {
				var n TypedNode[T]
				n, err = t.node(ch.New)
				typed.Value = n.Value
			}
			if !yield(typed, err) {
				return
			}
		}
	}
}

func (t *Typed[T]) nodes(list iter.Seq[Node]) iter.Seq2[TypedNode[T], error] {
	return func(yield func(TypedNode[T], error) bool) {
		for n := range list {
			if !yield(t.node(n)) {
				return
			}
		}
	}
}

func (t *Typed[T]) node(n Node) (TypedNode[T], error) {
	value, err := t.decode(n)
	if err != nil {
		return TypedNode[T]{Node: n}, fmt.Errorf("decode %s: %w", printable.String(n.Path), err)
	}
	return TypedNode[T]{n, value}, nil
}
