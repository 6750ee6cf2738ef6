package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// MaxFrame is the longest request that the server reads: ZooKeeper's default.
const MaxFrame = 0xfffff

// trustedSize is the largest buffer that is allocated before the frame has arrived.
const trustedSize = 16 << 10

// ErrFrameSize means that a client has announced a frame longer than MaxFrame.
var ErrFrameSize = errors.New("zktest: frame length out of range")

// ReadFrame returns the next frame without its length. A client that announces a long frame
// and does not send it causes no large allocation.
func ReadFrame(r io.Reader) ([]byte, error) {
	var length [LengthSize]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > MaxFrame {
		return nil, ErrFrameSize
	}
	if n <= trustedSize {
		frame := make([]byte, n)
		_, err := io.ReadFull(r, frame)
		return frame, err
	}
	var frame bytes.Buffer
	if _, err := io.CopyN(&frame, r, int64(n)); err != nil {
		return nil, err
	}
	return frame.Bytes(), nil
}

// A frame has its length as an int32, then the body. In replies and notifications, a header
// with xid, zxid and error precedes the body.
const (
	LengthSize = 4
	HeaderSize = 4 + 8 + 4
)

// NewReply returns an encoder for a reply's body. It has room for the length and the header,
// which are only known after the request was carried out.
func NewReply() *Encoder {
	return &Encoder{Buf: make([]byte, LengthSize+HeaderSize, 128)}
}

// Reply completes the frame. An error has no body.
func (e *Encoder) Reply(xid int32, zxid int64, code Code) []byte {
	if code != OK {
		e.Buf = e.Buf[:LengthSize+HeaderSize]
	}
	h := e.Buf[LengthSize:]
	binary.BigEndian.PutUint32(h, uint32(xid))
	binary.BigEndian.PutUint64(h[4:], uint64(zxid))
	binary.BigEndian.PutUint32(h[12:], uint32(code))
	return e.Frame()
}

// Frame writes the length at the beginning.
func (e *Encoder) Frame() []byte {
	binary.BigEndian.PutUint32(e.Buf, uint32(len(e.Buf)-LengthSize))
	return e.Buf
}

// Notification returns the frame of a watch event. Since ZooKeeper 3.9, the frame has the zxid
// of the change; earlier versions send -1.
func Notification(event EventType, path string, zxid int64) []byte {
	const syncConnected = 3
	e := NewReply()
	e.Int32(int32(event))
	e.Int32(syncConnected)
	e.String(path)
	return e.Reply(XidNotification, zxid, OK)
}
