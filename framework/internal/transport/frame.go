package transport

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/gocurator/curator/framework/internal/proto"
)

const (
	// The xids of this package's requests start here. The library counts from 1, and
	// makes few requests. Negative xids would also keep the two apart, but servers
	// ignore negative xids when they limit a client's requests under way
	// (ServerCnxn.incrOutstandingAndCheckThrottle).
	firstOwnXid = 1 << 30

	handshakeSize = 4 + 4 + 8 // a ConnectResponse, up to its session id

	// maxFrame bounds the memory that a broken peer can make this client allocate.
	// Servers refuse requests beyond 1 MiB by default, but a listing of very many
	// children may be larger. Of an even longer answer, only the header is kept.
	maxFrame = 64 << 20

	// maxHandshakeFrame is more than servers send before the handshake is over: 41
	// bytes with the session, 16 for each of the credentials, and some hundred for a
	// challenge of SASL. The longest challenge of DIGEST-MD5 has 2,048.
	maxHandshakeFrame = 4 << 10

	// maxPassword is the longest password that the library can send when it resumes the
	// session; servers use 16 bytes.
	maxPassword = 64
)

// errMalformed ends a connection whose peer violates ZooKeeper's protocol.
var errMalformed = errors.New("malformed frame")

// malformedUnless returns errMalformed for a message that could not be read.
func malformedUnless(ok bool) error {
	if ok {
		return nil
	}
	return errMalformed
}

// parseConnectResponse refuses a response that no correct server sends, because the
// library would not check it: the library allocates as many bytes as the password
// claims to have, and panics on a timeout of 0.
func parseConnectResponse(body []byte) (proto.ConnectResponse, error) {
	r, _, ok := proto.ReadConnectResponse(body) // newer servers append bytes, which the library skips, too
	return r, malformedUnless(ok && len(r.Password) <= maxPassword && (r.Session == 0 || r.TimeoutMillis > 0))
}

// reply is the header of a reply or notification; body is what follows.
type reply struct {
	proto.ReplyHeader
	body []byte
}

// parseReply refuses a frame that is shorter than the header, because the library would
// panic on such a frame.
func parseReply(frame []byte) (reply, error) {
	h, body, ok := proto.ReadReplyHeader(frame)
	return reply{h, body}, malformedUnless(ok)
}

// parseEvent reads a notification.
func parseEvent(r reply) (Event, error) {
	e, ok := proto.ReadWatcherEvent(r.body)
	return Event{Type: e.Type, State: e.State, Path: e.Path, Zxid: r.Zxid}, malformedUnless(ok)
}

// appendRequest appends a frame with a request of this package. Payload appends the
// bytes after the request's header.
func appendRequest(b []byte, h proto.RequestHeader, payload func([]byte) []byte) []byte {
	return appendFrame(b, func(b []byte) []byte { return payload(h.Append(b)) })
}

// appendFrame appends a frame with the given message.
func appendFrame(b []byte, message func([]byte) []byte) []byte {
	start := len(b)
	b = message(append(b, make([]byte, proto.LengthSize)...))
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-proto.LengthSize))
	return b
}

// readGrowing appends n bytes from r to buf. It allocates in proportion to the bytes
// that have arrived, and not to the announced length.
func readGrowing(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		part := min(n-len(buf), max(len(buf), firstChunk, cap(buf)-len(buf)))
		buf = slices.Grow(buf, part)
		end := len(buf) + part
		if _, err := io.ReadFull(r, buf[len(buf):end]); err != nil {
			return buf, err
		}
		buf = buf[:end]
	}
	return buf, nil
}

// firstChunk is how many bytes are allocated for a long frame before its first byte has
// arrived.
const firstChunk = 32 << 10
