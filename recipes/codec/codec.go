// Package codec turns values into the data of nodes, and back. The recipes that
// keep a value of the user's type in a node take a [Codec].
package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gocurator/curator/internal/printable"
)

// Codec turns values of one type into a node's data, and back. Recipes call
// both functions on the goroutine of their caller, several at the same time.
//
//   - Encode must return bytes that nobody changes later: neither the codec,
//     such as by using its buffer again, nor the owner of the value. It should
//     make the same data of equal values, because recipes compare data.
//   - Decode may neither keep nor change the bytes that it is given. An error
//     is about this data alone.
//   - Neither may call the recipe that has called it: that may wait for the
//     codec to return.
type Codec[T any] struct {
	Encode func(v T) ([]byte, error)
	Decode func(data []byte) (T, error)
}

// DecodeError is the error of a recipe that has found data in a node which is no
// value of its type. It is about this data alone, and not about the recipe.
type DecodeError struct {
	Path  string
	Mzxid int64 // the transaction that wrote the data; 0 if the recipe does not tell
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
