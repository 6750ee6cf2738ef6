package framework

import (
	"context"

	"github.com/gocurator/curator/internal/reason"
)

// write is a call that changes something on the server, through all of its
// attempts. Every operation that writes is one of these, with:
//
//   - send, the request that makes the change;
//   - onLostReply, and resolve if the outcome can be looked up;
//   - attempt, if one attempt takes more than that request.
//
// These are method expressions of the type C, such as *creation. Unlike functions that
// are bound to one call, they need no memory.
//
// A new operation needs no loop: the client's retry loop calls try.
type write[C, T any] struct {
	of C // the call that the write belongs to

	// send makes the request that changes something, once.
	send func(of C, ctx context.Context, s *Session) (T, error)

	// onLostReply says what follows a request whose outcome is unknown.
	onLostReply lostReply

	// resolve finds out whether such a request was applied. It returns the
	// result if it was. If it was not, the request is made again. An error ends
	// the attempt, and leaves the outcome unknown.
	resolve func(of C, ctx context.Context, s *Session) (v T, applied bool, err error)

	// attempt makes one attempt of several requests, among them calls of
	// request. If it is nil, an attempt is one call of request.
	attempt func(of C, ctx context.Context, s *Session) (T, error)

	// partly reports whether a call that fails with an error may have changed
	// something by other requests than send. It may be nil.
	partly func(err error) bool

	// doubt is the session of a request that may have been applied, or nil.
	doubt *Session
}

// lostReply says what a write does when the reply to its request is lost, and
// with it the outcome. ErrOutcomeUnknown has the table of which write does what.
type lostReply int

const (
	// giveUp fails with ErrOutcomeUnknown at once: nothing tells the outcome.
	giveUp lostReply = iota

	// sendAgain makes the request again: applying it twice does no harm. If no
	// later attempt succeeds, the call fails with ErrOutcomeUnknown.
	sendAgain

	// lookUp resolves the outcome before anything else, by the unique name of a
	// protected node. If it cannot be resolved, the call fails with
	// ErrOutcomeUnknown.
	lookUp

	// changesNothing is for a request that only reads, after all. It is made
	// again, and its outcome does not matter.
	changesNothing
)

// AnyVersion matches every version of a node. Any other number is a version: a
// node's versions are negative after 2^31 writes.
const AnyVersion int32 = -1

// ofVersion returns what a write that asks for a version does about a lost
// reply. The write is repeated only if it asks for none. With a version, no read
// tells the outcome: another client may have written the same data, and a
// deleted node that was re-created has the old version again.
func ofVersion(version int32) lostReply {
	if version == AnyVersion {
		return sendAgain
	}
	return giveUp
}

// do runs the operation in the client's retry loop. If the outcome of a request is
// unknown already, the first attempt is about that request, in its session.
func (w *write[C, T]) do(ctx context.Context, c *Client, op, path string) (T, error) {
	var v T
	err := c.do(ctx, op, path, w, func(ctx context.Context, s *Session) (err error) {
		v, err = w.try(ctx, s)
		return err
	})
	return v, err
}

// try makes one attempt. If the outcome of an earlier one is unknown and can be
// looked up, it does that first.
func (w *write[C, T]) try(ctx context.Context, s *Session) (T, error) {
	if w.doubt != nil && w.onLostReply == lookUp {
		v, applied, err := w.resolve(w.of, ctx, s)
		if applied || err != nil {
			return v, err
		}
		w.doubt = nil
	}
	if w.attempt != nil {
		return w.attempt(w.of, ctx, s)
	}
	return w.request(ctx, s)
}

// request makes the request that changes something, and notes whether its
// outcome is unknown.
func (w *write[C, T]) request(ctx context.Context, s *Session) (T, error) {
	v, err := w.send(w.of, ctx, s)
	return v, w.noteOutcome(s, err)
}

// noteOutcome notes whether the outcome of a request with this error is unknown.
// It returns the error, which matches ErrOutcomeUnknown if the write gives up.
func (w *write[C, T]) noteOutcome(s *Session, err error) error {
	var failed *TxnError // nothing was applied, whatever the error of the operation
	switch {
	case !ambiguous(err), reason.Is(err, ErrOutcomeUnknown), reason.As(err, &failed):
		return err
	case w.onLostReply == changesNothing:
		return err
	case w.onLostReply == giveUp:
		return unknownOutcome(err)
	}
	w.doubt = s
	return err
}

func (w *write[C, T]) mayBeApplied(err error) bool {
	return w.doubt != nil || w.partly != nil && w.partly(err)
}

func (w *write[C, T]) inDoubt() *Session { return w.doubt }
