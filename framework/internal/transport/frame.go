package transport

import (
	"encoding/binary"
	"errors"
)

// Operation codes of requests that this package looks at.
const (
	opCreate          = 1
	opExists          = 3
	opGetData         = 4
	opPing            = 11
	opGetChildren2    = 12
	opCreate2         = 15
	opRemoveWatches   = 18
	opCreateContainer = 19
	opCreateTTL       = 21
	opSetAuth         = 100
	opSetWatches      = 101
	opClose           = -11
)

const (
	xidNotification = -1
	xidPing         = -2
	firstOwnXid     = -1001 // go-zookeeper uses positive xids, the protocol reserves a few small negative ones

	errNoNode = -101

	lengthSize      = 4
	replyHeaderSize = 4 + 8 + 4
	handshakeSize   = 4 + 4 + 8 // of a ConnectResponse, up to its session id

	// maxFrame bounds what a broken peer can make us allocate. Servers refuse requests beyond 1 MiB by default, but a
	// listing of very many children may be larger.
	maxFrame = 64 << 20
)

// errMalformed ends a connection whose peer does not speak ZooKeeper's protocol, or speaks it brokenly.
var errMalformed = errors.New("malformed frame")

// cursor reads the protocol's primitives. After a read beyond the end it is bad and returns zero values.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) int64() int64 {
	if b := c.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (c *cursor) bool() bool {
	b := c.take(1)
	return b != nil && b[0] != 0
}

// bytes reads a string or buffer; a length of -1 stands for null and reads as empty.
func (c *cursor) bytes() []byte {
	n := c.int32()
	if n == -1 {
		return nil
	}
	return c.take(int(n))
}

// connectRequest is the part of the client's handshake that matters here.
type connectRequest struct {
	session int64
}

func parseConnectRequest(body []byte) (connectRequest, error) {
	c := cursor{b: body}
	c.take(4 + 8 + 4) // protocol version, last zxid seen, timeout
	r := connectRequest{session: c.int64()}
	if c.bad {
		return r, errMalformed
	}
	return r, nil
}

// connectResponse is the part of the server's handshake that matters here. Session 0 means expired.
type connectResponse struct {
	timeoutMillis int32
	session       int64
}

func parseConnectResponse(body []byte) (connectResponse, error) {
	c := cursor{b: body}
	c.take(4) // protocol version
	r := connectResponse{timeoutMillis: c.int32(), session: c.int64()}
	if c.bad || r.session != 0 && r.timeoutMillis <= 0 { // the library would panic on a ticker of zero
		return r, errMalformed
	}
	return r, nil
}

// request is one request of the library, without its payload.
type request struct {
	xid, op int32
	watch   watch   // set if the request asks for one; its kind is settled by the reply
	sets    []watch // of setWatches
}

func parseRequest(body []byte) (request, error) {
	c := cursor{b: body}
	r := request{xid: c.int32(), op: c.int32()}
	switch r.op {
	case opExists, opGetData, opGetChildren2:
		if path := c.bytes(); c.bool() {
			r.watch = watch{path: string(path), kind: kindOf(r.op)}
		}
	case opSetWatches:
		c.take(8) // relative zxid
		for _, kind := range []kind{dataKind, existKind, childKind} {
			n := c.int32()
			for i := int32(0); i < n && !c.bad; i++ {
				r.sets = append(r.sets, watch{string(c.bytes()), kind})
			}
		}
	}
	if c.bad {
		return r, errMalformed
	}
	return r, nil
}

// reply is the header of a reply or notification; body is what follows.
type reply struct {
	xid  int32
	zxid int64
	err  int32
	body []byte
}

func parseReply(body []byte) (reply, error) {
	c := cursor{b: body}
	r := reply{xid: c.int32(), zxid: c.int64(), err: c.int32()}
	r.body = c.b
	if c.bad { // the library slices the header without looking and panics on a shorter frame
		return r, errMalformed
	}
	return r, nil
}

// plausible reports whether the length at the beginning of a reply's body fits the body. The library allocates what the
// length says before it looks.
func plausible(op int32, body []byte) bool {
	c := cursor{b: body}
	switch op {
	case opGetData:
		c.bytes()
	case opGetChildren2:
		const shortestName = 4 // its length
		if n := c.int32(); n < 0 || int(n) > len(c.b)/shortestName {
			return false
		}
	}
	return !c.bad
}

// notification is the body of a watch event.
type notification struct {
	event int32
	path  string
}

func parseNotification(body []byte) (notification, error) {
	c := cursor{b: body}
	n := notification{event: c.int32()}
	c.take(4) // keeper state
	n.path = string(c.bytes())
	if c.bad {
		return n, errMalformed
	}
	return n, nil
}

// appendRemoveWatches appends the frame that withdraws the watches of one table on a path.
func appendRemoveWatches(b []byte, xid int32, w Watch) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(4+4+4+len(w.Path)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint32(b, opRemoveWatches)
	b = binary.BigEndian.AppendUint32(b, uint32(len(w.Path)))
	b = append(b, w.Path...)
	return binary.BigEndian.AppendUint32(b, uint32(w.Table))
}

// appendNotification appends the frame of a watch event.
func appendNotification(b []byte, event, state int32, path string) []byte {
	xid, zxid := int32(xidNotification), int64(-1)
	b = binary.BigEndian.AppendUint32(b, uint32(replyHeaderSize+4+4+4+len(path)))
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, uint64(zxid))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(event))
	b = binary.BigEndian.AppendUint32(b, uint32(state))
	b = binary.BigEndian.AppendUint32(b, uint32(len(path)))
	return append(b, path...)
}
