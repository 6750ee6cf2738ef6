package transport

import (
	"errors"
	"time"
)

// Errors of calls.
var (
	// ErrNotSent means that there was no connection to send the request on.
	ErrNotSent = errors.New("no connection")

	// ErrTooLong means that the request is longer than Config allows. It was not sent.
	ErrTooLong = errors.New("request too long")

	// ErrLost means that the connection ended before the answer came. The request may have been carried out.
	ErrLost = errors.New("connection lost")
)

// Call is a request of ours under way, past the library: the library's calls cannot be abandoned, and each of them takes
// two goroutines more than a request needs.
type Call struct {
	then    func(code int32, err error)
	done    chan struct{}
	partial bool // its zxid says nothing about what was seen

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

// finish ends a call with its reply. It keeps a copy: the frame's memory is used again.
func (c *Call) finish(r reply) {
	c.reply = r
	c.reply.body = append([]byte(nil), r.body...)
	c.end()
}

func (c *Call) end() {
	if c.then != nil {
		c.then(c.reply.err, c.err)
	}
	close(c.done)
}

// Send sends a request whose answer the library does not see. Payload appends what follows the request's header. Then,
// if it is not nil, is called once if there is a call: with the answer's code before anything that arrived after it is
// looked at, or with an error if there is none.
//
// If too much is under way already, nothing is sent, and a channel is returned that is closed when it is time to try
// again.
func (l *Link) Send(op int32, payload func([]byte) []byte, then func(code int32, err error)) (*Call, <-chan struct{}, error) {
	var calls [1]*Call
	room, err := l.send([]Request{{op, payload, then}}, calls[:])
	return calls[0], room, err
}

// SendBoth is Send for a request and one that follows right behind it. They are written as one, which wakes the server
// once, and nobody of ours. If the second is too long, it is not sent, and has no call.
func (l *Link) SendBoth(one, two Request) (first, second *Call, room <-chan struct{}, err error) {
	var calls [2]*Call
	room, err = l.send([]Request{one, two}, calls[:])
	return calls[0], calls[1], room, err
}

// Request is one of two requests; see Send.
type Request struct {
	Op      int32
	Payload func([]byte) []byte
	Then    func(code int32, err error)
}

// send fills in the call of each request, up to one that is too long. Err is that of the first.
func (l *Link) send(requests []Request, calls []*Call) (room <-chan struct{}, err error) {
	l.mu.Lock()
	c := l.conn
	if c == nil || !c.established {
		l.mu.Unlock()
		return nil, ErrNotSent
	}
	if c.fullLocked() {
		defer l.mu.Unlock()
		return c.awaitRoomLocked(), nil
	}
	idle := c.clock.idle()
	for i, r := range requests {
		if calls[i], err = c.addOfLengthLocked(c.link.cfg.MaxRequest, r.Op, r.Payload, r.Then); err != nil {
			break
		}
	}
	atOnce := idle && len(c.out) <= writeAtOnce
	l.mu.Unlock()

	if calls[0] == nil {
		return nil, err
	}
	c.send(atOnce)
	return nil, nil
}

// addLocked queues a request of ours, of whatever length.
func (c *Conn) addLocked(op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
	return c.addOfLengthLocked(0, op, payload, then)
}

// addOfLengthLocked queues a request if it is no longer than limit. 0 means any length.
func (c *Conn) addOfLengthLocked(limit int, op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
	if c.closed {
		return nil, ErrNotSent
	}
	before := len(c.out)
	r := request{xid: c.link.nextOwnXid(), op: op}
	c.out = appendRequest(c.out, r, payload)
	if limit > 0 && len(c.out)-before-lengthSize > limit {
		c.out = c.out[:before]
		return nil, ErrTooLong
	}
	c.clock.sent(r, time.Now())
	call := &Call{then: then, done: make(chan struct{})}
	c.calls[r.xid] = call
	return call, nil
}

// What may be under way on a connection. A server that is slow makes callers wait, instead of filling memory with what
// they asked for.
const (
	maxCalls  = 16 << 10 // not answered
	maxQueued = 4 << 20  // bytes not written, before the request that exceeds it
)

// fullLocked reports whether a call has to wait. It does so behind those who wait already, for they would wait for ever
// if others took what becomes free.
func (c *Conn) fullLocked() bool {
	return !c.closed && (c.room != nil || len(c.calls) >= maxCalls || len(c.out) >= maxQueued)
}

func (c *Conn) awaitRoomLocked() <-chan struct{} {
	if c.room == nil {
		c.room = make(chan struct{})
	}
	return c.room
}

// makeRoomLocked wakes those who wait for room. It does so when half of it is free, and not for each answer, because all
// of them wake up.
func (c *Conn) makeRoomLocked() {
	if c.room != nil && len(c.calls) <= maxCalls/2 && len(c.out) <= maxQueued/2 {
		close(c.room)
		c.room = nil
	}
}

// loseCalls ends what was not answered on this connection.
func (c *Conn) loseCalls() {
	c.link.mu.Lock()
	c.closed = true
	lost := c.calls
	c.calls = nil
	if c.room != nil {
		close(c.room)
		c.room = nil
	}
	c.link.mu.Unlock()
	for _, call := range lost {
		call.err = ErrLost
		call.end()
	}
}
