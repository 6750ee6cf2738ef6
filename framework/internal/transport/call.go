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
	then       func(code int32, err error)
	done       chan struct{}
	ignoreZxid bool // its zxid says nothing about what was seen

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

// completeWith ends a call with its reply. It keeps a copy: the frame's memory is used again.
func (c *Call) completeWith(r reply) {
	c.reply = r
	c.reply.body = append([]byte(nil), r.body...)
	c.complete()
}

func (c *Call) complete() {
	if c.then != nil {
		c.then(c.reply.err, c.err)
	}
	close(c.done)
}

// Send sends a request whose answer the library does not see. Payload appends
// what follows the request's header. Then, if it is not nil, is called once if
// there is a call: with the answer's code before anything that arrived after it
// is looked at, or with an error if there is none. Both are called with locks
// held or on the reading goroutine, and must not wait.
//
// If too much is under way already, there is no call yet: the request waits for
// room, at the place that is returned.
func (l *Link) Send(op int32, payload func([]byte) []byte, then func(code int32, err error)) (*Call, *Waiter, error) {
	var calls [1]*Call
	place, err := l.send([]Request{{op, payload, then}}, calls[:])
	return calls[0], place, err
}

// SendBoth is Send for a request and one that follows right behind it. They are
// written as one, which wakes the server once, and nobody of ours. If the
// second is too long, it is not sent, and has no call.
func (l *Link) SendBoth(one, two Request) (first, second *Call, place *Waiter, err error) {
	var calls [2]*Call
	place, err = l.send([]Request{one, two}, calls[:])
	return calls[0], calls[1], place, err
}

// Request is one of two requests; see Send.
type Request struct {
	Op      int32
	Payload func([]byte) []byte
	Then    func(code int32, err error)
}

func (l *Link) send(requests []Request, calls []*Call) (*Waiter, error) {
	l.mu.Lock()
	c := l.conn
	if c == nil || !c.established {
		l.mu.Unlock()
		return nil, ErrNotSent
	}
	if c.fullLocked() {
		defer l.mu.Unlock()
		return c.enqueueWaiterLocked(requests), nil
	}
	err := c.enqueueAllLocked(requests, calls)
	l.mu.Unlock()
	c.signal()
	return nil, err
}

// enqueueAllLocked queues requests and fills in the call of each, up to one that
// is too long. The error is that of the first.
func (c *Conn) enqueueAllLocked(requests []Request, calls []*Call) (err error) {
	for i, r := range requests {
		if calls[i], err = c.enqueueLimitedLocked(c.link.cfg.MaxRequest, r.Op, r.Payload, r.Then); err != nil {
			break
		}
	}
	if calls[0] != nil {
		return nil
	}
	return err
}

// enqueueLocked queues a request of ours, of whatever length.
func (c *Conn) enqueueLocked(op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
	return c.enqueueLimitedLocked(0, op, payload, then)
}

// enqueueLimitedLocked queues a request if it is no longer than limit. 0 means any length.
func (c *Conn) enqueueLimitedLocked(limit int, op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
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
	c.inflight.sent(r, time.Now())
	call := &Call{then: then, done: make(chan struct{})}
	c.calls[r.xid] = call
	return call, nil
}

// failCalls ends what was not answered on this connection.
func (c *Conn) failCalls() {
	c.link.mu.Lock()
	c.closed = true
	lost := c.calls
	c.calls = nil
	c.failWaitersLocked()
	c.link.mu.Unlock()
	for _, call := range lost {
		call.err = ErrLost
		call.complete()
	}
}
