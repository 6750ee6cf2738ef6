package framework

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// Requests bypass go-zookeeper but use its connection. The library cannot abandon a
// call, drops the zxid of the answer, and takes longer.

// send makes a request in a session. It returns when the request is answered, or ctx or
// the session ends. A request cannot be recalled: if ctx ends first, late gets a later
// result.
func send[T any](ctx context.Context, s *Session, q proto.Request[T], late func(T, error)) (T, error) {
	p := newPending(s, q)
	if err := start(ctx, s, &p.Call); err != nil {
		var none T
		return none, err
	}
	return p.await(ctx, late)
}

// pending is a request and, once it has arrived, its answer.
type pending[T any] struct {
	transport.Call
	session *Session
	request proto.Request[T]

	// Set by ReadAnswer.
	answer T
	ok     bool
}

func newPending[T any](s *Session, q proto.Request[T]) *pending[T] {
	p := &pending[T]{session: s, request: q}
	p.Op, p.Payload, p.Reader = q.Op, q.Append, p
	return p
}

// ReadAnswer implements transport.Call's Reader.
func (p *pending[T]) ReadAnswer(body []byte, zxid int64) { p.answer, p.ok = p.request.Read(body, zxid) }

// start gives requests to the connection, and does not wait for the answers; see
// transport.Link.SendAll. If the connection has too much under way, the caller waits
// for room until ctx or the session ends.
func start(ctx context.Context, s *Session, calls ...*transport.Call) error {
	if ctx.Err() != nil {
		return notSent(ctx)
	}
	place, err := s.link.SendAll(calls...)
	if place != nil {
		err = awaitRoom(ctx, s, place)
	}
	return sendError(s, err)
}

// awaitRoom returns when the connection has taken requests that wait for room,
// or when ctx or the session has ended before that.
func awaitRoom(ctx context.Context, s *Session, place *transport.Waiter) error {
	select {
	case <-place.Done():
	case <-ctx.Done():
		if place.Cancel() {
			return notSent(ctx)
		}
	case <-s.ctx.Done():
		if place.Cancel() {
			return transport.ErrNotSent
		}
	}
	<-place.Done()
	return place.Err()
}

// sendError is the error of a request that the connection has not taken.
func sendError(s *Session, err error) error {
	switch {
	case err == nil, reason.Is(err, errNotSent):
		return err
	case reason.Is(err, transport.ErrTooLong):
		return ErrRequestTooLarge
	default:
		return s.sessionError(zk.ErrNoServer)
	}
}

// await returns when the request is answered, or ctx or the session ends. For late, see
// send.
func (p *pending[T]) await(ctx context.Context, late func(T, error)) (T, error) {
	var none T
	s := p.session
	select {
	case <-p.Done():
		return p.result()
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	select {
	case <-p.Done(): // also answered: a known outcome is better than an unknown one
		return p.result()
	default:
	}
	if ctx.Err() == nil {
		return none, s.sessionError(zk.ErrConnectionClosed)
	}
	if late != nil {
		p.later(late)
	}
	return none, reason.OfContext(ctx)
}

// later calls late when the request is answered. The caller may change the data of the
// request by then.
func (p *pending[T]) later(late func(T, error)) {
	p.Payload = nil
	p.session.client.spawn(func(context.Context) {
		<-p.Done()
		late(p.result())
	})
}

// lostError is the error of a request whose connection has ended. A log or the caller
// may keep the error for a long time, so it does not refer to the data of the request.
type lostError struct {
	error
	transport.HangUp
	protected bool // a long request that names a protected node
}

func (e *lostError) Unwrap() error { return e.error }

// result reads the answer of a call that is done.
func (p *pending[T]) result() (T, error) {
	var none T
	code, _, _, err := p.Answer()
	switch {
	case reason.Is(err, transport.ErrNotSent):
		return none, p.session.sessionError(zk.ErrNoServer)
	case reason.Is(err, transport.ErrAnswerTooLong):
		return none, ErrAnswerTooLarge
	case err != nil:
		lost := p.session.sessionError(zk.ErrConnectionClosed)
		if hangUp, ok := p.HungUp(); ok {
			isLong := hangUp.Size >= longRequest && p.Payload != nil // otherwise the caller has gone, and counts no ends
			lost = &lostError{lost, hangUp, isLong && bytes.Contains(p.Payload(nil), []byte("/_c_"))}
		}
		return none, lost
	case code == proto.CodeNoNode && p.request.NoNodeIsAnswer:
		return none, nil
	case code != proto.CodeOK:
		return none, errorOf(code)
	}
	if !p.ok {
		return none, errMalformedAnswer
	}
	return p.answer, nil
}

// pipelineDepth is how many requests of a pipeline are under way at a time.
const pipelineDepth = transport.PipelineDepth

// pipeline sends many requests without waiting for each answer, in order and a bounded
// number at a time. It calls each with the result of every request, in the same order.
// Only the error of a request that cannot be sent is reported at once.
//
// After the first error from each, pipeline sends no more requests, awaits the requests
// under way, and returns that error. So no request is under way when pipeline returns,
// unless ctx or the session has ended.
func pipeline[A, T any](
	ctx context.Context, s *Session, args []A,
	q func(A) proto.Request[T], each func(A, T, error) error,
) (failed error) {
	var none T
	var window [pipelineDepth]*pending[T]
	for i := range len(args) + pipelineDepth {
		slot := &window[i%pipelineDepth]
		if *slot != nil {
			v, err := (*slot).await(ctx, nil)
			if failed == nil {
				failed = each(args[i-pipelineDepth], v, err)
			}
			*slot = nil
		}
		if failed != nil || i >= len(args) {
			continue
		}
		p := newPending(s, q(args[i]))
		if err := start(ctx, s, &p.Call); err != nil {
			failed = each(args[i], none, err)
		} else {
			*slot = p
		}
	}
	return failed
}

// begunDelete is the request of a delete that was given to the connection, or that
// waits for room there. The zero begunDelete is no request.
type begunDelete struct {
	*pending[proto.Nothing]
	place *transport.Waiter // nil if the connection has the request
}

func (b *begunDelete) isNone() bool { return b.pending == nil || b.place == nil && !b.IsSent() }

// beginDelete gives a delete to the connection, without waiting. The session's later
// requests are sent after the delete.
func beginDelete(s *Session, path string, version int32) (begunDelete, error) {
	p := newPending(s, proto.Delete(path, version))
	place, err := s.link.SendAll(&p.Call)
	if err != nil {
		return begunDelete{}, sendError(s, err)
	}
	return begunDelete{p, place}, nil
}

// await returns the outcome of the request. If isNone returns true afterwards, the
// request was not sent.
func (b *begunDelete) await(ctx context.Context) error {
	if b.place != nil {
		err := awaitRoom(ctx, b.session, b.place)
		b.place = nil
		if err != nil {
			return sendError(b.session, err)
		}
	}
	_, err := b.pending.await(ctx, nil)
	return err
}
