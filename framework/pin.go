package framework

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/reason"
)

// InSession pins operations to one session: it runs f with a context for
// operations that must all be of the session that is connected at the start. An
// operation of this client, on any view, that is called with the context or
// with one derived from it, is never carried out in another session, not even
// by a retry. So whatever one operation has seen or made is as the session left
// it when the next one runs. The context ends with the session, and the cause
// is then the session's, such as ErrSessionLost.
//
// An operation under way when the session ends fails like any other: a write
// may match ErrOutcomeUnknown.
//
// InSession waits for a connection like an operation does, and returns what f
// returns. If f fails because the context has ended with the session, the error
// matches the session's cause. It does not call f again. To begin anew in the
// next session, use a retry loop:
//
//	lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
//	err := retry.Do(ctx, policy, lost, func(ctx context.Context) error { return client.InSession(ctx, f) })
//
// In the next session, f finds the nodes that the lost session has left. The
// server deletes its ephemeral nodes only some time later.
func (c *Client) InSession(ctx context.Context, f func(ctx context.Context) error) error {
	if f == nil {
		return &OpError{"session", c.servers(), isNil("function")}
	}
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	pinned, cancel := context.WithCancelCause(context.WithValue(ctx, pinKey{c.core}, s))
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer cancel(nil)
	defer stop()
	err = f(pinned)
	cause := context.Cause(s.ctx)
	endedWithSession := cause != nil && ctx.Err() == nil && reason.Is(err, context.Canceled)
	if endedWithSession && !reason.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
