package wire

import (
	"encoding/binary"
	"errors"
)

// Jute is ZooKeeper's encoding. Integers are big-endian, and a bool is one byte. Strings,
// buffers and vectors begin with their length as an int32, and the length -1 means null.

// ErrMalformed means that a frame ends in the middle of a value, or has an impossible value.
var ErrMalformed = errors.New("zktest: malformed request")

// Decoder reads the values of a frame. After the first value that does not fit, Err is set,
// and every further value is zero. So a caller decodes a whole record, and checks Err once.
type Decoder struct {
	Buf []byte // the rest of the frame
	Err error  // nil or ErrMalformed

	// Null is true if a string was null where Java does not allow null.
	Null bool
}

func (d *Decoder) take(n int) []byte {
	if d.Err != nil || n < 0 || n > len(d.Buf) {
		d.Err = ErrMalformed
		return nil
	}
	p := d.Buf[:n:n]
	d.Buf = d.Buf[n:]
	return p
}

// Int32 reads four bytes.
func (d *Decoder) Int32() int32 {
	if p := d.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

// Int64 reads eight bytes.
func (d *Decoder) Int64() int64 {
	if p := d.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

// Bool reads one byte.
func (d *Decoder) Bool() bool {
	p := d.take(1)
	return p != nil && p[0] != 0
}

// Buffer reads a buffer. The result aliases the frame: to keep it, copy it. A null buffer is
// nil, and an empty buffer is not nil.
func (d *Decoder) Buffer() []byte {
	n := d.Int32()
	if n == -1 {
		return nil
	}
	return d.take(int(n))
}

// String reads a string. For null, it returns an empty string and sets Null: most requests
// cannot be carried out with null.
func (d *Decoder) String() string {
	p := d.Buffer()
	if p == nil {
		d.Null = true
	}
	return javaString(p)
}

// Nullable is String where null is allowed and means an empty string.
func (d *Decoder) Nullable() string { return javaString(d.Buffer()) }

// Count reads the length of a vector. Each element has at least size bytes, so a false length
// cannot make the server allocate gigabytes. As in Java, a negative length means an empty
// vector.
func (d *Decoder) Count(size int) int {
	n := int(d.Int32())
	if n < 0 {
		return 0
	}
	if n > len(d.Buf)/size {
		d.Err = ErrMalformed
		return 0
	}
	return n
}

// Strings reads a vector of strings.
func (d *Decoder) Strings() []string {
	list := make([]string, d.Count(4))
	for i := range list {
		list[i] = d.Nullable() // the paths of setWatches
	}
	return list
}
