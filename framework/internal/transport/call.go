package transport

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Errors of calls.
var (
	// ErrNotSent means that there was no connection to send the request on.
	ErrNotSent = errors.New("no connection")

	// ErrTooLong means that the request is longer than Config.MaxRequest. It
	// was not sent.
	ErrTooLong = errors.New("request too long")

	// ErrLost means that the connection ended before the answer came. The
	// server may have carried out the request.
	ErrLost = errors.New("connection lost")

	// ErrAnswerTooLong means that the answer has come, and is longer than 64
	// MiB.
	ErrAnswerTooLong = errors.New("answer too long")
)

// Call is a request of ours that is under way. It goes around the library,
// because a library call cannot be abandoned, and each takes two goroutines
// more than a request needs.
type Call struct {
	sent       HangUp
	hungUp     bool // see HungUp; set before done is closed
	done       chan struct{}
	ignoreZxid bool // the answer's zxid does not become Link.lastZxid

	// Set before done is closed.
	reply reply
	err   error
}

// Done is closed when the call is answered, or when no answer can come any
// more.
func (c *Call) Done() <-chan struct{} { return c.done }

// Answer returns the answer, once Done is closed: the server's error code (0
// for success), the zxid, and the bytes behind the reply's header. An err that
// is not nil means that there was no answer.
func (c *Call) Answer() (code int32, zxid int64, body []byte, err error) {
	return c.reply.Code, c.reply.Zxid, c.reply.body, c.err
}

// HangUp is what there is to know of a request with which a connection has ended.
type HangUp struct {
	Request
	Size        int           // of the request, in bytes
	Established time.Time     // when the connection was established
	Held        time.Duration // how long that was before the request was sent
}

// HungUp reports whether a call is lost because the connection has ended in
// another way than by us, or by the silence of the peer: perhaps because of this
// request.
func (c *Call) HungUp() (HangUp, bool) { return c.sent, c.hungUp }

// completeWith completes a call with its reply. It keeps a copy of the body,
// because the frame's memory is used again.
func (c *Call) completeWith(r reply) {
	c.reply = r
	c.reply.body = append([]byte(nil), r.body...)
	c.complete()
}

func (c *Call) complete() {
	if c.sent.Then != nil {
		c.sent.Then(c.reply.Code, c.err)
	}
	close(c.done)
}

// Send sends a request whose answer the library does not see. The payload
// function appends the bytes that follow the request's header.
//
// If Send returns a call, then runs exactly once, unless it is nil: with the
// answer's code, before any frame that arrived after the answer is handled, or
// with an error if no answer can come. Payload and then run with locks held or
// on the reading goroutine, and must not block.
//
// If too much is under way already, Send returns a Waiter instead of a call:
// the request waits for its turn.
func (l *Link) Send(
	op int32, payload func([]byte) []byte, then func(code int32, err error),
) (*Call, *Waiter, error) {
	var calls [1]*Call
	waiter, err := l.send([]Request{{op, payload, then}}, calls[:])
	return calls[0], waiter, err
}

// Together is how many requests SendAll takes at most.
const Together = 3

// Calls are the calls of requests that are sent together, in the same order.
type Calls [Together]*Call

// SendAll is Send for a request and others that follow right behind it. All are
// written at once, which wakes the server once and no goroutine of ours. If one of
// the others is too long, neither it nor those behind it are sent, and they have no
// call.
func (l *Link) SendAll(requests ...Request) (calls Calls, waiter *Waiter, err error) {
	waiter, err = l.send(requests, calls[:])
	return calls, waiter, err
}

// Request is one of the requests of SendAll. See Send for its fields.
type Request struct {
	Op      int32
	Payload func([]byte) []byte
	Then    func(code int32, err error)
}

func (l *Link) send(requests []Request, calls []*Call) (*Waiter, error) {
	l.mu.Lock()
	c := l.conn
	if c == nil || !c.established || c.closed || l.retired {
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

// enqueueAllLocked queues requests and fills in the call of each. It stops at
// the first request that is too long. It returns an error only if the first
// request was not queued.
func (c *Conn) enqueueAllLocked(requests []Request, calls []*Call) (err error) {
	for i, r := range requests {
		if calls[i], err = c.enqueueLimitedLocked(c.link.cfg.MaxRequest, r); err != nil {
			break
		}
	}
	if calls[0] != nil {
		return nil
	}
	return err
}

// enqueueLocked queues a request of ours, however long it is.
func (c *Conn) enqueueLocked(op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
	return c.enqueueLimitedLocked(0, Request{op, payload, then})
}

// enqueueLimitedLocked queues a request that is no longer than limit bytes. 0
// means any length.
func (c *Conn) enqueueLimitedLocked(limit int, r Request) (*Call, error) {
	if c.closed {
		return nil, ErrNotSent
	}
	before := len(c.out)
	header := proto.RequestHeader{Xid: c.link.nextOwnXid(), Op: r.Op}
	c.out = appendRequest(c.out, header, r.Payload)
	if limit > 0 && len(c.out)-before-proto.LengthSize > limit {
		c.out = c.out[:before]
		return nil, ErrTooLong
	}
	c.inflight.sent(header, c.link.cfg.Clock())
	sent := HangUp{r, len(c.out) - before - proto.LengthSize, c.establishedAt, c.heldLocked()}
	call := &Call{sent: sent, done: make(chan struct{})}
	c.calls[header.Xid] = call
	return call, nil
}

// heldLocked returns for how long the connection has been established.
func (c *Conn) heldLocked() time.Duration {
	if !c.established {
		return 0
	}
	return time.Since(c.establishedAt)
}

// failCalls completes every call without an answer, with ErrLost, and every
// waiter with ErrNotSent. No call can be added to the connection any more.
func (c *Conn) failCalls() {
	c.link.mu.Lock()
	c.closed = true
	lost, hungUp := c.calls, c.hungUp
	c.calls = nil
	c.failWaitersLocked()
	c.link.mu.Unlock()
	for _, call := range lost {
		call.err, call.hungUp = ErrLost, hungUp
		call.complete()
	}
}
