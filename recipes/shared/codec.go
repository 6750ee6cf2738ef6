package shared

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gocurator/curator/internal/printable"
)

// Codec turns values into a node's data, and back. Both functions are called on
// the goroutine of the caller. Decode must not change or keep the data.
type Codec[T any] struct {
	Encode func(T) ([]byte, error)
	Decode func(data []byte) (T, error)
}

// DecodeError is the error of data that is no value of the type. It is about
// this data alone: the Value goes on, and sees what is written next.
type DecodeError struct {
	Path  string
	Mzxid int64 // the transaction that wrote the data
	Err   error // of the codec
}

// Error returns the path and the codec's error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s: %v", printable.String(e.Path), e.Err)
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// Bytes is the codec of plain bytes, as of Curator's SharedValue.
func Bytes() Codec[[]byte] {
	clone := func(b []byte) ([]byte, error) { return bytes.Clone(b), nil }
	return Codec[[]byte]{Encode: clone, Decode: clone}
}

// JSON is the codec of encoding/json.
func JSON[T any]() Codec[T] {
	return Codec[T]{
		Encode: func(v T) ([]byte, error) { return json.Marshal(v) },
		Decode: func(data []byte) (v T, err error) {
			err = json.Unmarshal(data, &v)
			return v, err
		},
	}
}

const countSize = 4

// bigEndian is Curator's encoding of a SharedCount.
var bigEndian = Codec[int32]{
	Encode: func(n int32) ([]byte, error) { return binary.BigEndian.AppendUint32(nil, uint32(n)), nil },
	Decode: func(data []byte) (int32, error) {
		if len(data) != countSize {
			return 0, fmt.Errorf("a count has %d bytes, and this has %d", countSize, len(data))
		}
		return int32(binary.BigEndian.Uint32(data)), nil
	},
}
