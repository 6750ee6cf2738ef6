package transport

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// CloseSession asks the server to end the session, whatever is under way, and
// returns the call. It returns nil if there is no connection to ask on.
func (l *Link) CloseSession() *Call { return l.requestNow(opCloseSession, noPayload) }

// ListEphemerals asks for the session's ephemeral nodes on the present connection,
// and returns nil if there is none. A server that does not know the request ends
// the connection. EphemeralsIn reads the answer.
func (l *Link) ListEphemerals() *Call { return l.requestNow(opGetEphemerals, everywhere) }

func (l *Link) requestNow(op int32, payload func([]byte) []byte) *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return nil
	}
	call, err := c.enqueueLocked(op, payload, nil)
	if err != nil {
		return nil
	}
	c.signal()
	return call
}

func everywhere(b []byte) []byte { return jute.AppendString(b, "/") }

// EphemeralsIn returns the paths in the body of an answer, and whether it is well
// formed.
func EphemeralsIn(body []byte) (paths []string, ok bool) {
	r := jute.NewReader(body)
	paths = make([]string, r.Count(lengthSize))
	for i := range paths {
		paths[i] = r.String()
	}
	return paths, !r.Bad()
}

func noPayload(b []byte) []byte { return b }

// EndSessionOptions say how to end a session without the library.
type EndSessionOptions struct {
	Identity

	// Credentials are for the deletes. To end a session takes none.
	Credentials []Credentials

	// Delete lists nodes to delete before the session is ended, by the server's
	// paths. Deleted is called for each node that is deleted or did not exist.
	Delete  []string
	Deleted func(path string)

	// Stay leaves the session to the server when all its nodes are deleted, but for
	// those in Keep. The server ends it by itself, when it has not heard of the
	// client for the session timeout. That counts from now.
	//
	// EndSession asks the server for the session's nodes before it deletes any, and
	// returns ErrUnlisted if the server makes no list. If it is Unlisted, EndSession
	// does not ask, and deletes the nodes in Delete.
	Stay     bool
	Keep     map[string]bool
	Unlisted bool

	// IOTimeout is how long each answer may take, and how long the server may
	// take to accept what is written.
	IOTimeout time.Duration
}

// EndSession ends a session on the server at the other end of nc, a connection
// of its own, which it closes. It returns nil when the session is known to be
// over, for whatever reason. It returns early, with an error, when ctx ends.
//
// The library cannot do that: after it has lost its connection, it can reach
// the server only by resuming the session.
func EndSession(ctx context.Context, nc net.Conn, o EndSessionOptions) error {
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()

	end := endingConn{conn: nc, in: bufio.NewReader(nc), ioTimeout: o.IOTimeout, xid: firstOwnXid, longest: maxShortFrame}
	over, err := end.resume(o.Identity)
	if over || err != nil {
		return err
	}
	if end.resumed { // otherwise the nodes are gone, and what is at their paths is another's
		if err := end.deleteNodes(o); err != nil || o.Stay {
			return err
		}
	}
	code, err := end.call(opCloseSession, noPayload)
	if code != 0 {
		return fmt.Errorf("the server does not end the session (%d)", code)
	}
	return err
}

// endingConn is a connection on which a session is ended.
type endingConn struct {
	conn      net.Conn
	in        *bufio.Reader
	ioTimeout time.Duration
	xid       int32
	longest   int  // the length of a frame that is read
	resumed   bool // the server has granted the session, and not another one
}

// resume resumes the session on this connection, and reports whether it is over
// already. A server may grant another session in its place. That one must be
// ended all the same.
func (e *endingConn) resume(id Identity) (over bool, err error) {
	if err := e.write(appendConnectRequest(nil, id)); err != nil {
		return false, err
	}
	frame, err := e.read()
	if err != nil {
		return false, err
	}
	granted, err := parseConnectResponse(frame)
	e.resumed = granted.session == id.ID
	return granted.session == 0, err
}

// endingDepth is how many deletes are under way at a time: a small load for a
// server, and few enough to fit into the buffers of a connection.
const endingDepth = 64

// deleteNodes deletes the nodes that the server lists, and no others: somebody may
// have deleted one of the client's and made it anew.
func (e *endingConn) deleteNodes(o EndSessionOptions) error {
	if len(o.Delete) == 0 && (!o.Stay || o.Unlisted) {
		return nil
	}
	if !o.Unlisted {
		own, err := e.ownNodes()
		if err != nil {
			return err
		}
		o.Delete = o.among(own)
	}
	if len(o.Delete) == 0 {
		return nil
	}
	for _, cred := range o.Credentials {
		if code, err := e.call(opSetAuth, cred.Payload); err != nil || code != 0 {
			return errors.Join(err, &AuthError{cred.Scheme, code})
		}
	}
	for paths := range slices.Chunk(o.Delete, endingDepth) {
		var batch []byte
		first := e.xid
		for _, path := range paths {
			batch = e.appendRequest(batch, opDelete, func(b []byte) []byte {
				return jute.AppendInt32(jute.AppendString(b, path), proto.AnyVersion)
			})
		}
		if err := e.write(batch); err != nil {
			return err
		}
		for i, path := range paths {
			r, err := e.answer(first + int32(i))
			if err != nil {
				return err
			}
			if r.err == proto.CodeOK || r.err == proto.CodeNoNode {
				o.Deleted(path)
			}
		}
	}
	return nil
}

// ErrUnlisted means that a server cannot say which nodes a session has.
var ErrUnlisted = errors.New("the server does not list the nodes of the session")

// among returns which of the session's nodes to delete. If the session stays, these
// may be nodes that the client does not know of: their requests were under way when
// it was closed. Nodes that are not there are Deleted.
func (o EndSessionOptions) among(own []string) []string {
	if o.Stay {
		return slices.DeleteFunc(own, func(path string) bool { return o.Keep[path] })
	}
	there := make(map[string]bool, len(own))
	for _, path := range own {
		there[path] = true
	}
	var left []string
	for _, path := range o.Delete {
		if there[path] {
			left = append(left, path)
		} else {
			o.Deleted(path)
		}
	}
	return left
}

// ownNodes returns the session's ephemeral nodes. The sync makes the server know of
// all that the client does. Servers make the list since version 3.6. An older one
// says that it does not know the request, and ends the connection. With any other
// error, the server may list the nodes the next time.
func (e *endingConn) ownNodes() ([]string, error) {
	if code, err := e.call(opSync, everywhere); code != proto.CodeOK || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("the server does not catch up (%d)", code))
	}
	e.longest = maxListFrame
	r, err := e.exchange(opGetEphemerals, everywhere)
	switch {
	case err != nil:
		return nil, err
	case r.err == proto.CodeUnimplemented:
		return nil, ErrUnlisted
	case r.err != proto.CodeOK:
		return nil, fmt.Errorf("the server does not list the nodes (%d)", r.err)
	}
	paths, ok := EphemeralsIn(r.body)
	return paths, malformedUnless(ok)
}

func (e *endingConn) call(op int32, payload func([]byte) []byte) (code int32, err error) {
	r, err := e.exchange(op, payload)
	return r.err, err
}

func (e *endingConn) exchange(op int32, payload func([]byte) []byte) (reply, error) {
	xid := e.xid
	if err := e.write(e.appendRequest(nil, op, payload)); err != nil {
		return reply{}, err
	}
	return e.answer(xid)
}

func (e *endingConn) appendRequest(b []byte, op int32, payload func([]byte) []byte) []byte {
	b = appendRequest(b, request{xid: e.xid, op: op}, payload)
	e.xid++
	return b
}

func (e *endingConn) write(b []byte) error {
	e.conn.SetWriteDeadline(time.Now().Add(e.ioTimeout))
	_, err := e.conn.Write(b)
	return err
}

// answer reads frames until the answer to a request.
func (e *endingConn) answer(xid int32) (reply, error) {
	for {
		frame, err := e.read()
		if err != nil {
			return reply{}, err
		}
		if r, err := parseReply(frame); err != nil || r.xid == xid {
			return r, err
		}
	}
}

const (
	// maxShortFrame is a length in bytes. Every answer that matters here is
	// shorter, but for a list.
	maxShortFrame = 1 << 10

	// maxListFrame is the same for a list of ephemeral nodes. It is more than
	// clients make: servers do not survive the end of a session with 4 MiB of paths.
	maxListFrame = 64 << 20
)

func (e *endingConn) read() ([]byte, error) {
	e.conn.SetReadDeadline(time.Now().Add(e.ioTimeout))
	var length [lengthSize]byte
	if _, err := io.ReadFull(e.in, length[:]); err != nil {
		return nil, err
	}
	n := frameLength(length[:])
	if n < 0 || n > e.longest {
		return nil, fmt.Errorf("%w: length %d", errMalformed, n)
	}
	return readGrowing(e.in, nil, n)
}

// appendConnectRequest appends the frame that resumes a session. It names no
// zxid: nothing will be read, so a server that lags behind will do.
func appendConnectRequest(b []byte, id Identity) []byte {
	start := len(b)
	b = jute.AppendInt32(b, 0) // length
	b = proto.ConnectRequest{
		TimeoutMillis: int32(id.Timeout.Milliseconds()), Session: id.ID, Password: id.Password,
	}.Append(b)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-lengthSize))
	return b
}
