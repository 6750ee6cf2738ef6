package atomic

import (
	"bytes"
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
)

// Value is a value in a persistent node, Curator's DistributedAtomicValue. A Value is safe
// for concurrent use. A missing or empty node counts as T's zero value. If the data cannot
// be decoded, every method except Store returns a *codec.DecodeError. An error of the
// encoder is returned unchanged.
//
// The first change creates the node. The methods wait and fail as the methods of [Number]
// do, and have the same limits.
type Value[T any] struct {
	node  *node
	codec codec.Codec[T]
}

// NewValue returns the Value with this path, without a request. If an argument is invalid,
// every call returns the error.
func NewValue[T any](c *framework.Client, path string, codec codec.Codec[T], opts ...Option) *Value[T] {
	v := &Value[T]{node: newNode(c, path, opts), codec: copying(codec)}
	if codec.Encode == nil || codec.Decode == nil {
		v.node.cfg.fault = isNil("codec")
	}
	return v
}

// Load returns the value, with every change that was complete before the call. For the
// exceptions, see [Number.Load].
func (v *Value[T]) Load(ctx context.Context) (value T, err error) {
	const op = "load"
	s, err := v.node.load(ctx, op)
	if err != nil {
		return value, err
	}
	return v.decode(op, s.data)
}

// Store sets the value unconditionally.
func (v *Value[T]) Store(ctx context.Context, now T) error {
	const op = "store"
	if err := v.node.refuse(op, false); err != nil {
		return err
	}
	data, err := v.codec.Encode(now)
	if err != nil {
		return err
	}
	_, err = v.node.do(ctx, op, func([]byte) step { return step{data: data, writes: true} })
	return err
}

// CompareAndSwap sets the value to now if the value is old, and reports whether it did.
// CompareAndSwap compares the node's data with the encoding of old. So an equal value with
// other bytes, such as JSON with other white space, is not old. Unlike Curator's
// compareAndSet, CompareAndSwap treats a missing node as the zero value.
func (v *Value[T]) CompareAndSwap(ctx context.Context, old, now T) (swapped bool, err error) {
	const op = "compare-and-swap"
	if err := v.node.refuse(op, false); err != nil {
		return false, err
	}
	is, err := v.codec.Encode(old)
	if err != nil {
		return false, err
	}
	next, err := v.codec.Encode(now)
	if err != nil {
		return false, err
	}
	var none T
	zero, err := v.codec.Encode(none)
	if err != nil {
		zero = nil // the codec may be unable to encode the zero value
	}
	s, err := v.node.do(ctx, op, func(data []byte) step {
		_, err := v.decode(op, data)
		if len(data) == 0 {
			data = zero
		}
		return step{data: next, writes: err == nil && bytes.Equal(data, is), err: err}
	})
	return s.writes, err
}

// Update replaces the value by f's result, and returns the result. Update calls f again
// with the newest value if another change was faster, or if f returned an error for a
// value that may be out of date. If f returns an error for the newest value, Update
// changes nothing, and returns the error. Update calls f in the caller's goroutine. Other
// calls do not wait for f.
func (v *Value[T]) Update(ctx context.Context, f func(old T) (T, error)) (now T, err error) {
	const op = "update"
	var none T
	if err := v.node.refuse(op, f == nil); err != nil {
		return none, err
	}
	_, err = v.node.do(ctx, op, func(data []byte) step {
		old, err := v.decode(op, data)
		if err != nil {
			return step{err: err}
		}
		if now, err = f(old); err != nil {
			return step{err: err}
		}
		next, err := v.codec.Encode(now)
		return step{data: next, writes: err == nil, err: err}
	})
	if err != nil {
		return none, err
	}
	return now, nil
}

// copying returns a codec that copies the bytes, because the user's codec may keep or
// change them.
func copying[T any](of codec.Codec[T]) codec.Codec[T] {
	return codec.Codec[T]{
		Encode: func(v T) ([]byte, error) {
			data, err := of.Encode(v)
			return bytes.Clone(data), err
		},
		Decode: func(data []byte) (T, error) { return of.Decode(bytes.Clone(data)) },
	}
}

func (v *Value[T]) decode(op string, data []byte) (value T, err error) {
	if len(data) == 0 {
		return value, nil
	}
	if value, err = v.codec.Decode(data); err != nil {
		err = v.node.failed(op, &codec.DecodeError{Path: v.node.path, Err: err})
	}
	return value, err
}
