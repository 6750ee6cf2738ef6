package shared

import (
	"encoding/binary"
	"fmt"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/codec"
)

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

const countSize = 4

// bigEndian is Curator's encoding of a SharedCount.
var bigEndian = codec.Codec[int32]{
	Encode: func(n int32) ([]byte, error) { return binary.BigEndian.AppendUint32(nil, uint32(n)), nil },
	Decode: func(data []byte) (int32, error) {
		if len(data) != countSize {
			return 0, fmt.Errorf("a count has %d bytes, and this has %d", countSize, len(data))
		}
		return int32(binary.BigEndian.Uint32(data)), nil
	},
}
