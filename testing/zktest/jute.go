package zktest

import (
	"encoding/binary"
	"errors"
	"time"
)

// Jute is ZooKeeper's encoding: big-endian integers, one byte for a bool,
// strings, buffers and vectors behind an int32 length where -1 means null.

// errMalformed says that a frame ended in the middle of a value, or that something
// in it cannot be true.
var errMalformed = errors.New("zktest: malformed request")

// decoder takes values off the front of a frame. After the first value that does
// not fit, err is set and every further value is zero, so that callers decode a
// whole record and look at err once.
type decoder struct {
	b    []byte
	err  error
	null bool // a string was null
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b) {
		d.err = errMalformed
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) int32() int32 {
	if p := d.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if p := d.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (d *decoder) bool() bool {
	p := d.take(1)
	return p != nil && p[0] != 0
}

// buffer returns bytes that alias the frame: whoever keeps them must copy them.
// A null buffer is nil, an empty one is not.
func (d *decoder) buffer() []byte {
	n := d.int32()
	if n == -1 {
		return nil
	}
	return d.take(int(n))
}

// string reads null as "", and remembers that it was null: most requests cannot be
// carried out then.
func (d *decoder) string() string {
	p := d.buffer()
	if p == nil {
		d.null = true
	}
	return javaString(p)
}

// nullable reads null as "", and does not mind.
func (d *decoder) nullable() string { return javaString(d.buffer()) }

// count reads the length of a vector whose elements take at least size bytes
// each, so that a false length cannot make the server allocate gigabytes. Every
// negative length stands for an empty vector, as in Java.
func (d *decoder) count(size int) int {
	n := int(d.int32())
	if n < 0 {
		return 0
	}
	if n > len(d.b)/size {
		d.err = errMalformed
		return 0
	}
	return n
}

func (d *decoder) strings() []string {
	list := make([]string, d.count(4))
	for i := range list {
		list[i] = d.nullable() // the paths of setWatches
	}
	return list
}

func (d *decoder) acls() []ACL {
	list := make([]ACL, d.count(12))
	for i := range list {
		list[i] = ACL{Perms: d.int32(), ID: d.id()}
	}
	return list
}

// id reads who an entry of an ACL is about. With the scheme "auth" nothing else counts.
func (d *decoder) id() ID {
	scheme := d.string()
	if scheme == "auth" {
		return ID{scheme, d.nullable()}
	}
	return ID{scheme, d.string()}
}

// encoder appends values to a frame.
type encoder struct{ b []byte }

func (e *encoder) int32(v int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }
func (e *encoder) int64(v int64) { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) buffer(p []byte) {
	if p == nil {
		e.int32(-1)
		return
	}
	e.int32(int32(len(p)))
	e.b = append(e.b, p...)
}

// string and the vectors below are never written as null: clients of ZooKeeper
// fail on a null string, and some crash on a null vector.
func (e *encoder) string(s string) {
	e.int32(int32(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) strings(list []string) {
	e.int32(int32(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

func (e *encoder) acls(list []ACL) {
	e.int32(int32(len(list)))
	for _, a := range list {
		e.int32(a.Perms)
		e.string(a.Scheme)
		e.string(a.ID.ID)
	}
}

func (e *encoder) stat(s Stat) {
	e.int64(s.Czxid)
	e.int64(s.Mzxid)
	e.int64(s.Ctime)
	e.int64(s.Mtime)
	e.int32(s.Version)
	e.int32(s.Cversion)
	e.int32(s.Aversion)
	e.int64(s.EphemeralOwner)
	e.int32(s.DataLength)
	e.int32(s.NumChildren)
	e.int64(s.Pzxid)
}

func (e *encoder) multiHeader(op Op, done bool, code Code) {
	e.int32(int32(op))
	e.bool(done)
	e.int32(int32(code))
}

// Frames: an int32 length, then for replies and notifications a header of
// xid, zxid and error, then the body.
const (
	lengthSize = 4
	headerSize = 4 + 8 + 4
)

// newReply returns an encoder for a reply's body, with room in front for the
// length and the header, which are known only after the request has run.
func newReply() *encoder {
	return &encoder{b: make([]byte, lengthSize+headerSize, 128)}
}

// reply completes the frame. An error has no body.
func (e *encoder) reply(xid int32, zxid int64, code Code) []byte {
	if code != ok {
		e.b = e.b[:lengthSize+headerSize]
	}
	h := e.b[lengthSize:]
	binary.BigEndian.PutUint32(h, uint32(xid))
	binary.BigEndian.PutUint64(h[4:], uint64(zxid))
	binary.BigEndian.PutUint32(h[12:], uint32(code))
	return e.frame()
}

// frame writes the length in front of everything else.
func (e *encoder) frame() []byte {
	binary.BigEndian.PutUint32(e.b, uint32(len(e.b)-lengthSize))
	return e.b
}

// notification returns the frame of a watch event, with the zxid of the change, as
// since ZooKeeper 3.9. Before it was always -1.
func notification(event eventType, path string, zxid int64) []byte {
	const syncConnected = 3
	e := newReply()
	e.int32(int32(event))
	e.int32(syncConnected)
	e.string(path)
	return e.reply(xidNotification, zxid, ok)
}

// millis converts a duration to the protocol's unit, rounded up and clamped, so
// that a positive duration never becomes zero.
func millis(d time.Duration) int32 {
	const maxMillis = 1<<31 - 1
	return int32(min((d+time.Millisecond-1)/time.Millisecond, maxMillis))
}
