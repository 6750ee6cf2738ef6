package transport

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// everywhere appends the path "/", such as for a sync.
var everywhere = proto.Sync("/").Append

func noPayload(b []byte) []byte { return b }

// EndSessionOptions are the options for ending a session without the library.
type EndSessionOptions struct {
	Identity

	// SASL authenticates the client, as servers may require of every request. Nil
	// means no exchange.
	SASL *SASL

	// Credentials are for the deletes. Ending a session needs no credentials.
	Credentials []Credentials

	// Stay deletes all nodes of the session except the nodes in Keep, which has server
	// paths, and leaves the session to the server. The server ends the session after
	// its timeout without contact, counted from now.
	//
	// The list of nodes comes from the server, because the client may not know nodes
	// whose requests were under way when it was closed.
	Stay bool
	Keep map[string]bool

	// IOTimeout limits the time for each answer and for each write.
	IOTimeout time.Duration
}

// EndSession ends a session at the server at the other end of nc, a separate
// connection, which EndSession closes. It returns nil when the session is known to be
// over for any reason. If ctx ends, it returns early with an error.
//
// The library cannot do that: after it has lost its connection, it can reach
// the server only by resuming the session.
func EndSession(ctx context.Context, nc net.Conn, o EndSessionOptions) error {
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()

	end := endingConn{conn: nc, in: bufio.NewReader(nc), ioTimeout: o.IOTimeout,
		xid: firstOwnXid, longest: maxHandshakeFrame}
	over, err := end.resume(o.Identity)
	if over || err != nil {
		return err
	}
	if err := end.authenticate(o.SASL); err != nil {
		return err
	}
	if end.resumed && o.Stay { // otherwise the nodes are gone, and nodes at their paths belong to other sessions
		return end.deleteNodes(o)
	}
	code, err := end.call(proto.OpCloseSession, noPayload)
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
	resumed   bool // the server has resumed this session, and not granted another one
}

// resume resumes the session on this connection, and reports whether the session is
// already over. If the server grants another session instead, that session must be
// ended, too.
func (e *endingConn) resume(id Identity) (over bool, err error) {
	// The request names no zxid, because nothing will be read and a server that lags
	// behind is good enough.
	q := proto.ConnectRequest{TimeoutMillis: int32(id.Timeout.Milliseconds()), Session: id.ID, Password: id.Password}
	if err := e.write(appendFrame(nil, q.Append)); err != nil {
		return false, err
	}
	frame, err := e.read()
	if err != nil {
		return false, err
	}
	granted, err := parseConnectResponse(frame)
	e.resumed = granted.Session == id.ID
	return granted.Session == 0, err
}

// endingDepth is how many deletes are under way at the same time: a small load for a
// server, and few enough for the buffers of a connection.
const endingDepth = 64

// deleteNodes deletes only the nodes that the server lists, because another client may
// have deleted and re-created one of this client's nodes.
func (e *endingConn) deleteNodes(o EndSessionOptions) error {
	own, err := e.ownNodes()
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(path string) bool { return o.Keep[path] })
	if len(own) == 0 {
		return nil
	}
	for _, cred := range o.Credentials {
		if code, err := e.call(proto.OpAuth, proto.Auth(cred.Scheme, cred.Auth).Append); err != nil || code != 0 {
			return errors.Join(err, &AuthError{cred.Scheme, code})
		}
	}
	for paths := range slices.Chunk(own, endingDepth) {
		var batch []byte
		first := e.xid
		for _, path := range paths {
			batch = e.appendRequest(batch, proto.OpDelete, proto.Delete(path, proto.AnyVersion).Append)
		}
		if err := e.write(batch); err != nil {
			return err
		}
		for i := range paths {
			if _, err := e.answer(first + int32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownNodes returns the session's ephemeral nodes. The sync ensures that the server has
// applied everything that the client knows. Servers have this request since version
// 3.6.
func (e *endingConn) ownNodes() ([]string, error) {
	if code, err := e.call(proto.OpSync, everywhere); code != proto.CodeOK || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("the server does not catch up (%d)", code))
	}
	e.longest = maxListFrame
	r, err := e.exchange(proto.OpGetEphemerals, everywhere)
	switch {
	case err != nil:
		return nil, err
	case r.Code != proto.CodeOK:
		return nil, fmt.Errorf("the server does not list the nodes (%d)", r.Code)
	}
	list := jute.NewReader(r.body)
	paths := make([]string, list.Count(proto.LengthSize))
	for i := range paths {
		paths[i] = list.String()
	}
	return paths, malformedUnless(!list.Bad())
}

func (e *endingConn) call(op int32, payload func([]byte) []byte) (code int32, err error) {
	r, err := e.exchange(op, payload)
	return r.Code, err
}

func (e *endingConn) exchange(op int32, payload func([]byte) []byte) (reply, error) {
	xid := e.xid
	if err := e.write(e.appendRequest(nil, op, payload)); err != nil {
		return reply{}, err
	}
	return e.answer(xid)
}

func (e *endingConn) appendRequest(b []byte, op int32, payload func([]byte) []byte) []byte {
	b = appendRequest(b, proto.RequestHeader{Xid: e.xid, Op: op}, payload)
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
		if r, err := parseReply(frame); err != nil || r.Xid == xid {
			return r, err
		}
	}
}

// maxListFrame is the limit for the list of ephemeral nodes, in bytes; all other frames
// are limited by maxHandshakeFrame. No session has that many nodes, because servers do
// not survive the end of a session with 4 MiB of paths.
const maxListFrame = 64 << 20

func (e *endingConn) read() ([]byte, error) {
	e.conn.SetReadDeadline(time.Now().Add(e.ioTimeout))
	var length [proto.LengthSize]byte
	if _, err := io.ReadFull(e.in, length[:]); err != nil {
		return nil, err
	}
	n := frameLength(length[:])
	if n < 0 || n > e.longest {
		return nil, fmt.Errorf("%w: length %d", errMalformed, n)
	}
	return readGrowing(e.in, nil, n)
}
