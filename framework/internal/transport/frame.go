package transport

import (
	"encoding/binary"
	"errors"

	"github.com/gocurator/curator/framework/internal/jute"
)

// Operation codes of requests that this package makes.
const (
	opSync          = 9
	opCheck         = 13
	opMulti         = 14
	opRemoveWatches = 18
	opSetAuth       = 100
	opSetWatches    = 101
)

const (
	xidNotification = -1

	// Our requests count from here. The library counts from 1, and has few requests of its own. Negative xids would keep
	// them apart as well, but servers leave those out when they limit how much a client may have under way
	// (ServerCnxn.incrOutstandingAndCheckThrottle).
	firstOwnXid = 1 << 30

	lengthSize      = 4
	replyHeaderSize = 4 + 8 + 4
	handshakeSize   = 4 + 4 + 8 // of a ConnectResponse, up to its session id

	// maxFrame bounds what a broken peer can make us allocate. Servers refuse requests beyond 1 MiB by default, but a
	// listing of very many children may be larger.
	maxFrame = 64 << 20

	// maxHandshakeFrame is far more than servers send before the handshake is
	// over: 41 bytes with the session, and 16 for each of the credentials.
	maxHandshakeFrame = 1 << 10

	// maxPassword is what the library can send back when it takes up the
	// session again, and more than the 16 bytes that servers give.
	maxPassword = 64
)

// errMalformed ends a connection whose peer does not speak ZooKeeper's protocol, or speaks it brokenly.
var errMalformed = errors.New("malformed frame")

// connectRequest is the part of the client's handshake that matters here.
type connectRequest struct {
	session int64
}

func parseConnectRequest(body []byte) (connectRequest, error) {
	c := jute.NewReader(body)
	c.Skip(4 + 8 + 4) // protocol version, last zxid seen, timeout
	r := connectRequest{session: c.Int64()}
	if c.Bad() {
		return r, errMalformed
	}
	return r, nil
}

// connectResponse is the part of the server's handshake that matters here. Session 0 means expired.
type connectResponse struct {
	timeoutMillis int32
	session       int64
}

// parseConnectResponse refuses what no server sends. The library gets the frame
// after that, and does not look before it acts: it allocates as many bytes as
// the password says to have, and panics on a timeout of 0.
func parseConnectResponse(body []byte) (connectResponse, error) {
	c := jute.NewReader(body)
	c.Skip(4) // protocol version
	r := connectResponse{timeoutMillis: c.Int32(), session: c.Int64()}
	password := c.Buffer()
	readOnly := c.Rest() // a boolean that old servers leave out
	switch {
	case c.Bad(), len(password) > maxPassword, len(readOnly) > 1:
		return r, errMalformed
	case r.session != 0 && r.timeoutMillis <= 0:
		return r, errMalformed
	}
	return r, nil
}

// request is one request, without its payload.
type request struct{ xid, op int32 }

func parseRequest(body []byte) (request, error) {
	c := jute.NewReader(body)
	r := request{xid: c.Int32(), op: c.Int32()}
	if c.Bad() {
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
	c := jute.NewReader(body)
	r := reply{xid: c.Int32(), zxid: c.Int64(), err: c.Int32()}
	r.body = c.Rest()
	if c.Bad() { // the library slices the header without looking and panics on a shorter frame
		return r, errMalformed
	}
	return r, nil
}

// parseEvent reads the body of a notification.
func parseEvent(body []byte) (Event, error) {
	c := jute.NewReader(body)
	ev := Event{Type: c.Int32(), State: c.Int32(), Path: c.String()}
	if c.Bad() {
		return ev, errMalformed
	}
	return ev, nil
}

// appendRequest appends a frame of ours. Payload appends what follows the request's header.
func appendRequest(b []byte, r request, payload func([]byte) []byte) []byte {
	start := len(b)
	b = jute.AppendInt32(b, 0)
	b = jute.AppendInt32(b, r.xid)
	b = jute.AppendInt32(b, r.op)
	b = payload(b)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-lengthSize))
	return b
}
