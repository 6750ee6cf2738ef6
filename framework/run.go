package framework

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/retry"
)

// attempt is one try of an operation, in the session that is connected then.
type attempt func(ctx context.Context, s *Session) error

// writing is a write as the retry loop sees it.
type writing interface {
	// inDoubt returns the session of a request whose outcome is unknown, or nil.
	inDoubt() *Session

	// mayBeApplied reports, after the last attempt has failed with an error,
	// whether something may have been changed all the same.
	mayBeApplied(err error) bool
}

// run runs an operation in the client's retry loop.
func (c *Client) run(ctx context.Context, op, path string, w writing, try attempt) error {
	var last lastError
	var begunIn *Session // the session in which the first attempt has sent its request already, or nil
	if w != nil {
		begunIn = w.inDoubt()
	}
	request := countedRequest{op: op, path: c.full(path)}
	end := c.ctx
	if connection := c.connectionOf(ctx); connection != nil {
		end = connection
	}
	err := retry.Do(ctx, c.policy(ctx, end), retryable, func(ctx context.Context) error {
		s, err := begunIn, error(nil)
		begunIn = nil
		if s == nil || c.isCutOff(ctx) || s.checkPin(ctx) != nil {
			s, err = c.sessionFor(ctx, end, request)
		}
		if err == nil {
			err = s.hangUps.attempted(s, request, try(ctx, s))
		}
		if retryable(err) {
			last.note(ctx, op, path, err)
		}
		return err
	})
	err = last.named(ctx, err)
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil && IsConnectionError(err): // closed during a pause
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	case c.isCutOff(ctx) && IsConnectionError(err):
		err = fmt.Errorf("%w: %w", context.Cause(end), err)
	}
	if w != nil && w.mayBeApplied(err) && !reason.Is(err, ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	return &OpError{op, path, err}
}

// sessionFor returns the session for an attempt, when the request may be sent.
func (c *Client) sessionFor(ctx, end context.Context, request countedRequest) (*Session, error) {
	s, err := c.connectedSession(ctx)
	if err == nil {
		err = s.hangUps.await(ctx, end, s, request)
	}
	return s, err
}

// policy returns the retry policy of an operation under ctx. Its pauses end with
// end.
func (c *Client) policy(ctx, end context.Context) retry.Policy {
	switch {
	case once.IsSingle(ctx):
		return retry.None()
	case end == c.ctx:
		return c.retry
	default:
		return stoppable{c.cfg.retry, end.Done()}
	}
}

// stoppable is a policy that gives up its pauses when stop is closed; retry.Do
// looks for the method.
type stoppable struct {
	retry.Policy
	stop <-chan struct{}
}

func (s stoppable) Stop() <-chan struct{} { return s.stop }

// OnError returns a context for operations. Whenever an operation under that context
// tries again after an error, it calls tell with the *OpError that it would have
// returned. A recipe whose users wait for something other than the operation can name
// the last error when they give up. If ctx already carries an OnError function, both
// are called. tell must not block, and several goroutines may call it at the same time.
func (e Extension) OnError(ctx context.Context, tell func(error)) context.Context {
	if outer, ok := ctx.Value(onErrorKey{}).(func(error)); ok {
		inner := tell
		tell = func(err error) { inner(err); outer(err) }
	}
	return context.WithValue(ctx, onErrorKey{}, tell)
}

type onErrorKey struct{}

// lastError is the last error that an operation has tried again after.
type lastError struct{ err error }

// note takes down an error, and reports it to the function of OnError.
func (l *lastError) note(ctx context.Context, op, path string, err error) {
	l.err = err
	if tell, ok := ctx.Value(onErrorKey{}).(func(error)); ok {
		tell(&OpError{op, path, err})
	}
}

// named adds the last error to the error of a wait that ctx has ended.
func (l *lastError) named(ctx context.Context, err error) error {
	if l.err == nil || !reason.IsOfContext(ctx, err) || reason.Is(err, l.err) {
		return err
	}
	return fmt.Errorf("%w (last error: %w)", err, l.err)
}
