package transport

import (
	"encoding/binary"
	"errors"
	"time"
)

// Errors of calls.
var (
	// ErrNotSent means that there was no connection to send the request on.
	ErrNotSent = errors.New("no connection")

	// ErrTooLong means that the request is longer than any server with default settings takes. It was not sent.
	ErrTooLong = errors.New("request too long")

	// ErrLost means that the connection ended before the answer came. The request may have been carried out.
	ErrLost = errors.New("connection lost")
)

// Call is a request of ours under way, past the library: the library's calls cannot be abandoned, and each of them takes
// two goroutines more than a request needs.
type Call struct {
	done chan struct{}

	// Set before done is closed.
	reply reply
	err   error
}

// Done is closed when the call is answered, or can not be any more.
func (c *Call) Done() <-chan struct{} { return c.done }

// Answer returns what came back, after Done is closed: the server's error code, 0 for success, the zxid, and what
// follows the reply's header. If err is not nil, there was no answer.
func (c *Call) Answer() (code int32, zxid int64, body []byte, err error) {
	return c.reply.err, c.reply.zxid, c.reply.body, c.err
}

// Send sends a request whose answer the library does not see. Payload appends what follows the request's header. The
// request takes its place among those of the library: behind the watches that are being set again, in particular.
func (l *Link) Send(op int32, payload func([]byte) []byte) (*Call, error) {
	l.mu.Lock()
	c := l.conn
	if c == nil || !c.established || c.closed {
		l.mu.Unlock()
		return nil, ErrNotSent
	}
	idle := c.clock.idle()
	call, err := c.add(request{xid: l.nextOwnXid(), op: op}, payload)
	atOnce := idle && len(c.out) <= writeAtOnce
	l.mu.Unlock()

	c.send(atOnce)
	return call, err
}

// send has the queue written: by the caller, if that is quick, else by the flusher.
func (c *Conn) send(atOnce bool) {
	if !atOnce || !c.writeBatch(writeAtOnce) {
		c.signal()
	}
}

// add queues a request of ours, in front of the gate or behind it.
func (c *Conn) add(r request, payload func([]byte) []byte) (*Call, error) {
	queue := &c.out
	open := c.gate.passes(r.op)
	if !open {
		queue = &c.gate.held
	}
	before := len(*queue)
	if before > maxQueued {
		return nil, ErrNotSent
	}
	*queue = appendRequest(*queue, r, payload)
	if len(*queue)-before > maxRequest {
		*queue = (*queue)[:before]
		return nil, ErrTooLong
	}
	if open {
		c.clock.sent(r, time.Now())
	} else {
		c.gate.waiting = append(c.gate.waiting, r)
	}
	call := &Call{done: make(chan struct{})}
	c.calls[r.xid] = call
	return call, nil
}

// maxRequest is the library's own limit. Servers cut the connection at their jute.maxbuffer, which is 1 MiB unless
// set otherwise.
const maxRequest = 1536 << 10

// maxQueued bounds what waits to be written to a server that does not read, while callers come and give up.
const maxQueued = 16 << 20

// writeAtOnce is how much may be written by a caller itself. It fits into the buffers of a connection on which nothing
// else is under way, so that the caller is not held up.
const writeAtOnce = 4 << 10

// answerCall ends a call with its reply. It keeps a copy: the frame's memory is used again.
func (c *Conn) answerCall(call *Call, r reply) {
	delete(c.calls, r.xid)
	c.newest = max(c.newest, r.zxid)
	if len(c.gate.missing) == 0 { // while there are, changes before this zxid may still be news to them
		c.link.lastZxid = max(c.link.lastZxid, c.newest)
	}
	call.reply = r
	call.reply.body = append([]byte(nil), r.body...)
	close(call.done)
}

// loseCalls ends what was not answered on this connection.
func (c *Conn) loseCalls() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.closed = true
	for _, r := range c.gate.waiting { // behind watches that were never set
		c.loseCall(r.xid, ErrNotSent)
	}
	for xid := range c.calls {
		c.loseCall(xid, ErrLost)
	}
}

func (c *Conn) loseCall(xid int32, err error) {
	call, ok := c.calls[xid]
	if !ok {
		return
	}
	delete(c.calls, xid)
	call.err = err
	close(call.done)
}

// The library tells the server the newest zxid that it has seen, lest it be connected to a server that is further behind,
// and be told of changes twice. It has not seen the answers to our calls. raiseZxid puts the newest in its place: in a
// ConnectRequest behind the protocol version, in setWatches behind the request's header.
//
// What counts is the newest zxid at the time of the handshake: changes since then are news to watches that are not set yet.
func (c *Conn) raiseZxid(frame []byte, at int) {
	field := frame[lengthSize+at:]
	if seen := int64(binary.BigEndian.Uint64(field)); seen < c.seenBefore {
		binary.BigEndian.PutUint64(field, uint64(c.seenBefore))
	}
}

const (
	zxidInConnectRequest = 4
	zxidInSetWatches     = 4 + 4
)
