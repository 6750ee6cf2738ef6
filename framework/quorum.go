package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
)

// checkOfRoot is a transaction that changes nothing. It needs no rights: a
// server proposes it also if the client may not read "/".
var checkOfRoot = proto.Multi(proto.Check("/", proto.AnyVersion).Part())

// passQuorum returns when the server has applied a transaction of this session,
// which a majority has committed. Reads of the session that follow it see all
// writes that were acknowledged before, and all writes of the session's earlier
// connections that will ever be applied.
//
// A sync does not promise that at a leader. It answers its own clients at once,
// like a read. That is too early at a leader that has not applied yet what its
// followers have acknowledged, and at one that is cut off, while the others
// have the next leader. Such a leader does not answer a transaction.
func passQuorum(ctx context.Context, s *Session) error {
	answer, err := send(ctx, s, checkOfRoot, nil)
	if err != nil {
		return err
	}
	return committed(answer)
}

// committed returns nil if a majority has committed the check. A check that is
// refused for want of rights is committed all the same. One of a session that is
// over, or elsewhere, proves nothing.
func committed(answer proto.MultiAnswer) error {
	if answer.Failed < 0 || answer.Code == proto.CodeNoAuth {
		return nil
	}
	return errorOf(answer.Code)
}

// afterQuorum makes the read that decides what has become of a write whose reply
// was lost.
func afterQuorum[T any](ctx context.Context, s *Session, q proto.Request[T]) (T, error) {
	if err := passQuorum(ctx, s); err != nil {
		var none T
		return none, err
	}
	return send(ctx, s, q, nil)
}
