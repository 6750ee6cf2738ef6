package atomic

import (
	"bytes"
	"context"
	"runtime"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
)

// Value is a value in a persistent node, Curator's DistributedAtomicValue. It
// is safe for concurrent use. A node that does not exist, or is empty, is T's
// zero value. Data that cannot be decoded is a *codec.DecodeError, except to Store. An
// error of the encoder is returned as it is.
//
// For all else Value is like Number.
type Value[T any] struct {
	cell  *cell
	codec codec.Codec[T]
}

// NewValue returns the Value with this path. It does not contact the server: a
// client, a path, a codec or an option that cannot be used is an error of every
// call.
func NewValue[T any](c *framework.Client, path string, codec codec.Codec[T], opts ...Option) *Value[T] {
	v := &Value[T]{codec: copying(codec)}
	v.cell = newCell(c, path, opts)
	if codec.Encode == nil || codec.Decode == nil {
		v.cell.cfg.fault = isNil("codec")
	}
	return v
}

// Load returns the value. It has seen every change that was complete before the
// call; at a leader see "How new a read is" in the package's documentation.
func (v *Value[T]) Load(ctx context.Context) (T, error) {
	data, err := v.cell.load(ctx, "load", func(data []byte) step { return step{data: data} })
	if err != nil {
		var none T
		return none, err
	}
	value, err := v.decode(data)
	return value, v.cell.failed("load", err)
}

// Store sets the value, whatever it was.
func (v *Value[T]) Store(ctx context.Context, now T) error {
	if err := v.cell.refuse("store", false); err != nil {
		return err
	}
	data, err := v.codec.Encode(now)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(v) // a cleanup would delete the receipt
	_, _, err = v.cell.do(ctx, "store", func([]byte) step { return step{data: data, writes: true} })
	return err
}

// CompareAndSwap sets the value to now if it is old, and reports whether it
// was. It compares bytes: the node's data with what the codec makes of old. The
// same value in other bytes, such as JSON with other spaces, is not old. Unlike
// Curator's compareAndSet, it takes a node that does not exist for the zero
// value.
func (v *Value[T]) CompareAndSwap(ctx context.Context, old, now T) (swapped bool, err error) {
	if err := v.cell.refuse("compare-and-swap", false); err != nil {
		return false, err
	}
	swap, err := v.swap(old, now)
	if err != nil {
		return false, err
	}
	defer runtime.KeepAlive(v)
	_, swapped, err = v.cell.do(ctx, "compare-and-swap", swap)
	return swapped, err
}

// Update sets the value to what f makes of it, and returns that. It calls f
// again with the next value if another change was faster. If f returns an
// error, nothing is changed, and Update returns that error. The value that f
// got then is not out of date. Update calls f on the caller's goroutine and
// holds up nobody meanwhile, but for those that wait for the lock of WithPromotion.
func (v *Value[T]) Update(ctx context.Context, f func(old T) (T, error)) (now T, err error) {
	if err := v.cell.refuse("update", f == nil); err != nil {
		return now, err
	}
	var none T
	err = update(ctx, v.cell, func(data []byte) (change, error) {
		old, err := v.decode(data)
		if err != nil {
			return nil, v.cell.failed("update", err)
		}
		if now, err = f(old); err != nil {
			return nil, err
		}
		next, err := v.codec.Encode(now)
		return swapBytes(next, func(is []byte) bool { return bytes.Equal(is, data) }), err
	})
	if err != nil {
		return none, err
	}
	return now, nil
}

// copying returns a codec that works on copies of the bytes, because others may
// keep and change what they are given.
func copying[T any](of codec.Codec[T]) codec.Codec[T] {
	return codec.Codec[T]{
		Encode: func(v T) ([]byte, error) {
			data, err := of.Encode(v)
			return bytes.Clone(data), err
		},
		Decode: func(data []byte) (T, error) { return of.Decode(bytes.Clone(data)) },
	}
}

func (v *Value[T]) decode(data []byte) (value T, err error) {
	if len(data) == 0 {
		return value, nil
	}
	if value, err = v.codec.Decode(data); err != nil {
		err = &codec.DecodeError{Path: v.cell.path, Err: err}
	}
	return value, err
}

// swap compares data. An empty node is equal to the zero value.
func (v *Value[T]) swap(old, now T) (change, error) {
	var none T
	zero, err := v.codec.Encode(none)
	if err != nil {
		zero = nil // a codec may have no data for it
	}
	is, err := v.codec.Encode(old)
	if err != nil {
		return nil, err
	}
	next, err := v.codec.Encode(now)
	if err != nil {
		return nil, err
	}
	isZero := bytes.Equal(is, zero)
	return swapBytes(next, func(data []byte) bool {
		return bytes.Equal(data, is) || len(data) == 0 && isZero
	}), nil
}

// swapBytes replaces data that matches.
func swapBytes(next []byte, matches func(data []byte) bool) change {
	return func(data []byte) step {
		if !matches(data) {
			return step{data: data}
		}
		return step{data: next, writes: true}
	}
}
