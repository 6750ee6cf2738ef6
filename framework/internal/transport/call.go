package transport

import (
	"errors"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// These are the errors of calls.
var (
	// ErrNotSent means that there was no connection to send the request on.
	ErrNotSent = errors.New("no connection")

	// ErrTooLong means that the request is longer than Config.MaxRequest. It
	// was not sent.
	ErrTooLong = errors.New("request too long")

	// ErrLost means that the connection ended before the answer came. The
	// server may have carried out the request.
	ErrLost = errors.New("connection lost")

	// ErrAnswerTooLong means that the answer is longer than 64 MiB.
	ErrAnswerTooLong = errors.New("answer too long")
)

// Call is a request of this package, with its result. It bypasses the library, whose
// calls cannot be abandoned and take two more goroutines than a request needs.
type Call struct {
	Op      int32
	Payload func([]byte) []byte         // appends the bytes that follow the request's header
	Then    func(code int32, err error) // see Link.SendAll; may be nil

	// Reader reads the body of an answer with CodeOK on the reading goroutine, before
	// Done is closed. The body's memory is reused afterwards. A call without a Reader
	// keeps a copy of the body.
	Reader interface {
		ReadAnswer(body []byte, zxid int64)
	}

	// Set when the request is sent.
	conn       *Conn
	size       int
	held       time.Duration // see HangUp
	done       chan struct{}
	ignoreZxid bool // the answer's zxid does not become Link.lastZxid

	// Set before done is closed.
	hungUp bool // see HungUp
	code   int32
	zxid   int64
	body   []byte
	err    error
}

// IsSent reports whether the request was given to a connection. Call IsSent after
// SendAll has returned without a Waiter, or when Done of its Waiter is closed.
func (c *Call) IsSent() bool { return c.conn != nil }

// Done is closed when the call is answered, or when no answer can arrive any more.
func (c *Call) Done() <-chan struct{} { return c.done }

// Answer returns the answer, once Done is closed: the server's error code (0 for
// success), the zxid, and the bytes after the reply's header, unless a Reader has read
// them. An err that is not nil means that there was no answer.
func (c *Call) Answer() (code int32, zxid int64, body []byte, err error) {
	return c.code, c.zxid, c.body, c.err
}

// HangUp describes a request that was in flight when its connection ended.
type HangUp struct {
	Size        int           // the size of the request, in bytes
	Established time.Time     // when the connection was established
	Held        time.Duration // how long the connection had existed before the request was sent
}

// HungUp reports whether the peer has ended the call's connection, perhaps because of
// this request. HungUp returns false if this client has ended the connection, or if the
// peer was silent.
func (c *Call) HungUp() (HangUp, bool) {
	return HangUp{Size: c.size, Established: c.conn.establishedAt, Held: c.held}, c.hungUp
}

// completeWith completes a call with its reply.
func (c *Call) completeWith(r reply) {
	c.code, c.zxid = r.Code, r.Zxid
	switch {
	case c.Reader == nil:
		c.body = append(c.body, r.body...)
	case c.code == proto.CodeOK && c.err == nil:
		c.Reader.ReadAnswer(r.body, r.Zxid)
	}
	c.complete()
}

func (c *Call) complete() {
	if c.Then != nil {
		c.Then(c.code, c.err)
	}
	close(c.done)
}

// SendAll sends a request whose answer bypasses the library, and further requests right
// after it. All requests are written together, which wakes the server only once. If one
// of the further requests is too long, SendAll sends neither it nor later ones.
//
// If a request is sent, its Then runs exactly once: with the answer's code, before
// any frame that arrived after the answer is handled, or with an error if no answer
// can come. Payload, Reader and Then run with locks held or on the reading goroutine,
// and must not block.
//
// If too much is already under way, SendAll returns a Waiter: the requests wait for
// their turn.
func (l *Link) SendAll(calls ...*Call) (*Waiter, error) {
	l.mu.Lock()
	c := l.conn
	if c == nil || !c.established || c.closed || l.retired {
		l.mu.Unlock()
		return nil, ErrNotSent
	}
	if c.fullLocked() {
		defer l.mu.Unlock()
		return c.enqueueWaiterLocked(calls...), nil
	}
	err := c.enqueueAllLocked(calls)
	l.mu.Unlock()
	c.signal()
	return nil, err
}

// enqueueAllLocked queues requests. It stops at the first request that is too long.
// It returns an error only if the first request was not queued.
func (c *Conn) enqueueAllLocked(calls []*Call) error {
	for i, call := range calls {
		if err := c.enqueueLimitedLocked(c.link.cfg.MaxRequest, call); err != nil && i == 0 {
			return err
		} else if err != nil {
			break
		}
	}
	return nil
}

// enqueueLocked queues a request of this package of any length.
func (c *Conn) enqueueLocked(op int32, payload func([]byte) []byte, then func(int32, error)) (*Call, error) {
	call := &Call{Op: op, Payload: payload, Then: then}
	return call, c.enqueueLimitedLocked(0, call)
}

// enqueueLimitedLocked queues a request of at most limit bytes. 0 means any length.
func (c *Conn) enqueueLimitedLocked(limit int, call *Call) error {
	if c.closed {
		return ErrNotSent
	}
	before := len(c.out)
	header := proto.RequestHeader{Xid: c.link.nextOwnXid(), Op: call.Op}
	c.out = appendRequest(c.out, header, call.Payload)
	size := len(c.out) - before - proto.LengthSize
	if limit > 0 && size > limit {
		c.out = c.out[:before]
		return ErrTooLong
	}
	call.conn, call.size, call.held, call.done = c, size, c.heldLocked(), make(chan struct{})
	c.inflight.sent(header, c.link.cfg.Clock(), call)
	return nil
}

func (c *Conn) enqueueSetWatchesLocked(
	since int64, batch watchLists, then func(code int32, err error),
) (*Call, error) {
	return c.enqueueLocked(proto.OpSetWatches, func(b []byte) []byte {
		b = jute.AppendInt64(b, since)
		for _, paths := range [][]string{batch.data, batch.exist, batch.child} {
			b = jute.AppendInt32(b, int32(len(paths)))
			for _, path := range paths {
				b = jute.AppendString(b, path)
			}
		}
		return b
	}, then)
}

func (c *Conn) enqueueAddWatchLocked(w *PersistentWatch) {
	mode := modePersistent
	if w.Recursive {
		mode = modeRecursive
	}
	call := &Call{Op: proto.OpAddWatch, Then: w.Then, Payload: func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), mode)
	}}
	if c.fullLocked() {
		c.enqueueWaiterLocked(call)
		c.waitingWatches++
		return
	}
	c.enqueueLimitedLocked(0, call)
}

// heldLocked returns for how long the connection has been established.
func (c *Conn) heldLocked() time.Duration {
	if !c.established {
		return 0
	}
	return time.Since(c.establishedAt)
}

// failCalls completes every unanswered call with ErrLost, and every waiter with
// ErrNotSent. After that, no call can be added to the connection.
func (c *Conn) failCalls() {
	c.link.mu.Lock()
	c.closed = true
	lost, hungUp := c.inflight, c.hungUp
	c.inflight = inflight{}
	c.failWaitersLocked()
	c.signal()
	c.link.mu.Unlock()
	for _, sent := range lost.waiting[lost.head:] {
		if call := sent.call; call != nil {
			call.err, call.hungUp = ErrLost, hungUp
			call.complete()
		}
	}
}

// fullLocked reports whether a new request must wait, after the present waiters. There
// are no waiters while there is capacity, because every event that frees capacity first
// admits waiters.
func (c *Conn) fullLocked() bool { return !c.closed && !c.hasCapacityLocked() }

func (c *Conn) hasCapacityLocked() bool { return c.inflight.len() < maxCalls && len(c.out) < maxQueued }

func (c *Conn) enqueueWaiterLocked(calls ...*Call) *Waiter {
	w := &Waiter{conn: c, calls: slices.Clone(calls), done: make(chan struct{})}
	w.elem = c.waiters.PushBack(w)
	return w
}

// admitWaitersLocked sends the waiters' requests, in order, as far as there is
// capacity.
func (c *Conn) admitWaitersLocked() {
	for c.waiters.Len() > 0 && c.hasCapacityLocked() {
		w := c.waiters.Front().Value.(*Waiter)
		w.finishLocked(c.enqueueAllLocked(w.calls))
		c.signal()
	}
}

// failWaitersLocked completes every waiter with ErrNotSent, because the
// connection has ended.
func (c *Conn) failWaitersLocked() {
	for c.waiters.Len() > 0 {
		c.waiters.Front().Value.(*Waiter).finishLocked(ErrNotSent)
	}
}
