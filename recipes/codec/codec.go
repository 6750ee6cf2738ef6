// Package codec turns values into the data of nodes, and back. The recipes that keep a
// value of your type in a node take a [Codec]: [JSON], [Int32], [Bytes] or your own.
//
//	shelf := atomic.NewValue(client, "/stock/sku-42", codec.JSON[Stock]())
package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gocurator/curator/internal/printable"
)

// Codec turns values of one type into a node's data, and back. Recipes call both
// functions on the goroutine of their caller, and several goroutines may call them at
// the same time.
//
//   - Encode returns bytes that do not change later: the codec must not reuse its
//     buffer, and the bytes must not belong to the value. Encode should return the same
//     data for equal values, because recipes compare data.
//   - Decode must neither keep nor change its argument. An error of Decode does not end
//     the recipe.
//   - Neither function may call the recipe that has called it, because the recipe may
//     be waiting for the function to return.
type Codec[T any] struct {
	Encode func(v T) ([]byte, error)
	Decode func(data []byte) (T, error)
}

// DecodeError means that the codec of a recipe cannot decode the data of a node. The
// recipe continues: a later write can replace the data.
type DecodeError struct {
	Path  string
	Mzxid int64 // the transaction that wrote the data; 0 if the recipe does not report it
	Err   error // the codec's error
}

// Error returns the path and the codec's error, such as: decode /orders: 3
// bytes, want 8.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s: %v", printable.String(e.Path), e.Err)
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// Bytes is the codec of plain bytes, as in Curator's recipes. It copies them.
func Bytes() Codec[[]byte] {
	clone := func(b []byte) ([]byte, error) { return bytes.Clone(b), nil }
	return Codec[[]byte]{Encode: clone, Decode: clone}
}

// Int32 is the codec of Curator's SharedCount: four bytes, big-endian.
func Int32() Codec[int32] {
	const size = 4
	return Codec[int32]{
		Encode: func(n int32) ([]byte, error) { return binary.BigEndian.AppendUint32(nil, uint32(n)), nil },
		Decode: func(data []byte) (int32, error) {
			if len(data) != size {
				return 0, fmt.Errorf("a count has %d bytes, and this has %d", size, len(data))
			}
			return int32(binary.BigEndian.Uint32(data)), nil
		},
	}
}

// JSON is the codec of encoding/json. Empty data is an error of Decode.
func JSON[T any]() Codec[T] {
	return Codec[T]{
		Encode: func(v T) ([]byte, error) { return json.Marshal(v) },
		Decode: func(data []byte) (v T, err error) {
			err = json.Unmarshal(data, &v)
			return v, err
		},
	}
}
