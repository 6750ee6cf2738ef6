package framework

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// write is a call that changes something on the server, through all of its
// attempts. Every operation that writes is one of these, with:
//
//   - send, the request that makes the change;
//   - onLostReply, and resolve if the outcome can be looked up;
//   - attempt, if one attempt takes more than that request.
//
// A new operation needs no loop of its own: the client's retry loop calls try.
type write[T any] struct {
	// send makes the request that changes something, once.
	send func(ctx context.Context, s *Session) (T, error)

	// onLostReply says what follows a request whose outcome is unknown.
	onLostReply lostReply

	// resolve finds out whether such a request was applied. It returns the
	// result if it was. If it was not, the request is made again. An error ends
	// the attempt, and leaves the outcome unknown.
	resolve func(ctx context.Context, s *Session) (v T, applied bool, err error)

	// attempt makes one attempt of several requests, among them calls of
	// request. If it is nil, an attempt is one call of request.
	attempt func(ctx context.Context, s *Session) (T, error)

	// partly reports whether a call that fails with an error may have changed
	// something by other requests than send. It may be nil.
	partly func(err error) bool

	// doubt is the session of a request that may have been applied, or nil.
	doubt *Session

	// since is the newest transaction that the client knew of when it sent that
	// request.
	since int64

	// late reports whether a request may still be applied that a look has not
	// found: one of a session that is lost. A look has only the requests of its
	// own session behind it. The client gives a session up before the servers
	// end it, and until then, a server that has stalled with a request may go
	// on with it.
	late bool
}

// lostReply says what a write does when the reply to its request is lost, and
// with it the outcome.
type lostReply int

const (
	// sendAgain makes the request again: applying it twice does no harm. If no
	// later attempt succeeds, the call fails with ErrOutcomeUnknown.
	sendAgain lostReply = iota

	// lookUp resolves the outcome before anything else. If it cannot be
	// resolved, the call fails with ErrOutcomeUnknown.
	lookUp

	// giveUp fails with ErrOutcomeUnknown at once: nothing tells the outcome.
	giveUp

	// changesNothing is for a request that only reads, after all. It is made
	// again, and its outcome does not matter.
	changesNothing
)

// AnyVersion matches every version of a node. Any other number is a version: a
// node's versions are negative after 2^31 writes.
const AnyVersion int32 = -1

// ofVersion returns what a write that asks for a version does about a lost
// reply: the node's version tells the outcome. Without a version, each write
// overwrites the one before.
func ofVersion(version int32) lostReply {
	if version == AnyVersion {
		return sendAgain
	}
	return lookUp
}

// do runs the operation in the client's retry loop.
func (w *write[T]) do(ctx context.Context, c *Client, op, path string) (T, error) {
	var v T
	err := c.do(ctx, op, path, w.mayBeApplied, func(ctx context.Context, s *Session) (err error) {
		v, err = w.try(ctx, s)
		return err
	})
	return v, err
}

// try makes one attempt. If the outcome of an earlier one is unknown and can be
// looked up, it does that first. In a later session, a request that was not
// found may still be applied: the outcome is unknown if no later attempt
// succeeds.
func (w *write[T]) try(ctx context.Context, s *Session) (T, error) {
	if w.doubt != nil && w.onLostReply == lookUp {
		v, applied, err := w.resolve(ctx, s)
		if applied || err != nil {
			return v, err
		}
		w.late = w.late || w.doubt != nil && w.doubt != s
		w.doubt = nil
	}
	if w.attempt != nil {
		return w.attempt(ctx, s)
	}
	return w.request(ctx, s)
}

// request makes the request that changes something, and notes whether its
// outcome is unknown.
func (w *write[T]) request(ctx context.Context, s *Session) (T, error) {
	since := s.client.LastZxid()
	v, err := w.send(ctx, s)
	var failed *TxnError // nothing was applied, whatever the error of the operation
	switch {
	case !ambiguous(err), reason.Is(err, ErrOutcomeUnknown), reason.As(err, &failed):
		return v, err
	case w.onLostReply == changesNothing:
		return v, err
	case w.onLostReply == giveUp:
		return v, unknownOutcome(err)
	}
	w.doubt, w.since = s, since
	return v, err
}

// existed reports whether a node is older than the request in doubt. Only then
// does it tell of the request: a newer one may have taken the place of the node
// that the request has written or made.
func (w *write[T]) existed(node *proto.Stat) bool { return node.Czxid <= w.since }

// errAnew is why a node does not tell what has become of a request.
var errAnew = errors.New("the node may have been made anew since")

// mayBeApplied reports, after the last attempt has failed with an error,
// whether something may have been changed all the same.
func (w *write[T]) mayBeApplied(err error) bool {
	return w.doubt != nil || w.late || w.partly != nil && w.partly(err)
}
