package wire

import (
	"encoding/binary"
	"errors"
)

// Jute is ZooKeeper's encoding: big-endian integers, one byte for a bool,
// strings, buffers and vectors behind an int32 length where -1 means null.

// ErrMalformed says that a frame ended in the middle of a value, or that
// something in it cannot be true.
var ErrMalformed = errors.New("zktest: malformed request")

// Decoder takes values off the front of a frame. After the first value that
// does not fit, Err is set and every further value is zero, so that callers
// decode a whole record and look at Err once.
type Decoder struct {
	Buf []byte // what has not been read yet
	Err error  // nil or ErrMalformed

	// Null says that a string was null where Java does not put up with that.
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

// Buffer returns bytes that alias the frame: a caller that keeps them copies
// them. A null buffer is nil, an empty one is not.
func (d *Decoder) Buffer() []byte {
	n := d.Int32()
	if n == -1 {
		return nil
	}
	return d.take(int(n))
}

// String reads null as "", and remembers that it was null: most requests cannot
// be carried out then.
func (d *Decoder) String() string {
	p := d.Buffer()
	if p == nil {
		d.Null = true
	}
	return javaString(p)
}

// Nullable is String for the places where null is as good as the empty string.
func (d *Decoder) Nullable() string { return javaString(d.Buffer()) }

// Count reads the length of a vector whose elements take at least size bytes
// each, so that a false length cannot make the server allocate gigabytes. Every
// negative length stands for an empty vector, as in Java.
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
