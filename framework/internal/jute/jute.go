// Package jute reads and writes the primitives of ZooKeeper's wire protocol: big-endian
// numbers, and strings and buffers after their length. The length -1 stands for null.
// Package proto has the messages.
package jute

import "encoding/binary"

// Reader reads from a frame. After a read beyond the end, the Reader is Bad and returns
// zero values.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader returns a reader of b. The buffers that it returns are parts of b.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Bad reports whether the frame was too short, or contained an impossible length.
func (r *Reader) Bad() bool { return r.bad }

// Rest returns the unread bytes.
func (r *Reader) Rest() []byte { return r.rest }

func (r *Reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// Int32 reads an int.
func (r *Reader) Int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads a long.
func (r *Reader) Int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// Buffer reads a buffer or the bytes of a string. It returns nil for null.
func (r *Reader) Buffer() []byte {
	n := r.Int32()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

// String reads a string. Null reads as empty.
func (r *Reader) String() string { return string(r.Buffer()) }

// Count reads the length of a vector whose elements take at least size bytes each. A
// length that the frame cannot hold makes the reader Bad, so it is safe to allocate by
// the length. Null reads as 0.
func (r *Reader) Count(size int) int {
	n := r.Int32()
	if n == -1 {
		return 0
	}
	if n < 0 || int(n) > len(r.rest)/size {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}

// AppendInt32 appends an int.
func AppendInt32(b []byte, n int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }

// AppendInt64 appends a long.
func AppendInt64(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

// AppendBool appends a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendString appends a string.
func AppendString(b []byte, s string) []byte {
	return append(AppendInt32(b, int32(len(s))), s...)
}

// AppendBuffer appends a buffer, which is null if data is nil.
func AppendBuffer(b, data []byte) []byte {
	if data == nil {
		return AppendInt32(b, -1)
	}
	return append(AppendInt32(b, int32(len(data))), data...)
}
