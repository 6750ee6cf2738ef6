package wire

import (
	"encoding/binary"
	"time"
)

// Encoder appends values to a frame.
type Encoder struct{ Buf []byte }

// Int32 writes four bytes.
func (e *Encoder) Int32(v int32) { e.Buf = binary.BigEndian.AppendUint32(e.Buf, uint32(v)) }

// Int64 writes eight bytes.
func (e *Encoder) Int64(v int64) { e.Buf = binary.BigEndian.AppendUint64(e.Buf, uint64(v)) }

// Bool writes one byte.
func (e *Encoder) Bool(v bool) {
	if v {
		e.Buf = append(e.Buf, 1)
	} else {
		e.Buf = append(e.Buf, 0)
	}
}

// Buffer writes a buffer: its length and its bytes. It writes nil as null.
func (e *Encoder) Buffer(p []byte) {
	if p == nil {
		e.Int32(-1)
		return
	}
	e.Int32(int32(len(p)))
	e.Buf = append(e.Buf, p...)
}

// String writes a string. Strings and vectors are never written as null: clients fail on a
// null string, and some clients crash on a null vector.
func (e *Encoder) String(s string) {
	e.Int32(int32(len(s)))
	e.Buf = append(e.Buf, s...)
}

// Strings writes a vector of strings.
func (e *Encoder) Strings(list []string) {
	e.Int32(int32(len(list)))
	for _, s := range list {
		e.String(s)
	}
}

// MultiHeader writes the header of one part of a multi.
func (e *Encoder) MultiHeader(op Op, done bool, code Code) {
	e.Int32(int32(op))
	e.Bool(done)
	e.Int32(int32(code))
}

// Millis converts a duration to milliseconds, the protocol's unit. It rounds up and clamps, so
// a positive duration never becomes zero.
func Millis(d time.Duration) int32 {
	const maxMillis = 1<<31 - 1
	return int32(min((d+time.Millisecond-1)/time.Millisecond, maxMillis))
}
