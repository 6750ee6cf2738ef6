package proto

import "github.com/gocurator/curator/framework/internal/jute"

// These are sizes in bytes.
const (
	// LengthSize is the length in front of every message.
	LengthSize = 4

	// ReplyHeaderSize is the encoded size of a ReplyHeader.
	ReplyHeaderSize = 4 + 8 + 4
)

// RequestHeader is in front of every request.
type RequestHeader struct {
	Xid int32 // chosen by the client; the answer has it, too
	Op  int32
}

// Append appends the header.
func (h RequestHeader) Append(b []byte) []byte {
	return jute.AppendInt32(jute.AppendInt32(b, h.Xid), h.Op)
}

// ReadRequestHeader reads the header of a request.
func ReadRequestHeader(message []byte) (h RequestHeader, ok bool) {
	r := jute.NewReader(message)
	h = RequestHeader{Xid: r.Int32(), Op: r.Int32()}
	return h, !r.Bad()
}

// These Xids do not belong to a single request.
const (
	XidNotification = -1 // of every watch event, which answers no request
	XidPing         = -2 // of every ping and its answer
)

// ReplyHeader is in front of every answer and of every watch event.
type ReplyHeader struct {
	Xid  int32
	Zxid int64 // the newest transaction that the server has seen
	Code int32 // CodeOK for success; an answer follows only then
}

// ReadReplyHeader reads the header of an answer or event, and returns the rest.
func ReadReplyHeader(message []byte) (h ReplyHeader, body []byte, ok bool) {
	r := jute.NewReader(message)
	h = ReplyHeader{Xid: r.Int32(), Zxid: r.Int64(), Code: r.Int32()}
	return h, r.Rest(), !r.Bad()
}

// ConnectRequest is the first message of a client on a connection.
type ConnectRequest struct {
	LastZxid      int64 // the newest transaction that the client has seen
	TimeoutMillis int32 // the requested timeout
	Session       int64 // 0 for a new session
	Password      []byte
}

// Append appends the request.
func (q ConnectRequest) Append(b []byte) []byte {
	b = jute.AppendInt32(b, protocolVersion)
	b = jute.AppendInt64(b, q.LastZxid)
	b = jute.AppendInt32(b, q.TimeoutMillis)
	b = jute.AppendInt64(b, q.Session)
	return jute.AppendBuffer(b, q.Password)
}

// ReadConnectRequest reads a ConnectRequest.
func ReadConnectRequest(message []byte) (q ConnectRequest, ok bool) {
	r := jute.NewReader(message)
	r.Int32() // protocol version
	q = ConnectRequest{LastZxid: r.Int64(), TimeoutMillis: r.Int32(), Session: r.Int64(), Password: r.Buffer()}
	return q, !r.Bad()
}

const protocolVersion = 0

// ConnectResponse is a server's answer to a ConnectRequest.
type ConnectResponse struct {
	TimeoutMillis int32 // the granted timeout
	Session       int64 // 0 if the requested session is over
	Password      []byte
}

// ReadConnectResponse reads a ConnectResponse and returns the rest, a boolean that old
// servers omit. The password shares the memory of the message.
func ReadConnectResponse(message []byte) (a ConnectResponse, rest []byte, ok bool) {
	r := jute.NewReader(message)
	r.Int32() // protocol version
	a = ConnectResponse{TimeoutMillis: r.Int32(), Session: r.Int64(), Password: r.Buffer()}
	return a, r.Rest(), !r.Bad()
}

// WatcherEvent is the body of a watch event.
type WatcherEvent struct {
	Type  int32
	State int32
	Path  string
}

// ReadWatcherEvent reads a WatcherEvent.
func ReadWatcherEvent(body []byte) (e WatcherEvent, ok bool) {
	r := jute.NewReader(body)
	e = WatcherEvent{Type: r.Int32(), State: r.Int32(), Path: r.String()}
	return e, !r.Bad()
}
