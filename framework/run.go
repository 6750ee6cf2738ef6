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

// run runs an operation in the client's retry loop.
func (c *Client) run(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	var trouble trouble
	request := countedRequest{op, c.full(path)}
	end := c.ctx
	if connection := c.connectionOf(ctx); connection != nil {
		end = connection
	}
	err := retry.Do(ctx, c.policy(ctx, end), retryable, func(ctx context.Context) error {
		s, err := c.connectedSession(ctx)
		if err == nil {
			err = c.hangUps.await(ctx, end, s, request)
		}
		if err == nil {
			err = c.hangUps.attempted(c.cfg.logger, s, request, try(ctx, s))
		}
		if retryable(err) {
			trouble.note(ctx, op, path, err)
		}
		return err
	})
	err = trouble.named(ctx, err)
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil && IsConnectionError(err): // closed during a pause
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	case c.isCutOff(ctx) && IsConnectionError(err):
		err = fmt.Errorf("%w: %w", context.Cause(end), err)
	}
	if mayBeApplied != nil && mayBeApplied(err) && !reason.Is(err, ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	return &OpError{op, path, err}
}

// policy returns the retry policy of an operation under ctx. Its pauses end with
// end.
func (c *Client) policy(ctx, end context.Context) retry.Policy {
	if once.IsSingle(ctx) {
		return retry.None()
	}
	return stoppable{c.cfg.retry, end.Done()}
}

// stoppable is a policy that gives up its pauses when stop is closed; retry.Do
// looks for the method.
type stoppable struct {
	retry.Policy
	stop <-chan struct{}
}

func (s stoppable) Stop() <-chan struct{} { return s.stop }
