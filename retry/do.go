package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/internal/reason"
)

var errNil = errors.New("retry: the policy and the functions must not be nil")

// failure is the error of a Do that gave up after several attempts, or during a pause.
type failure struct {
	attempts int   // how often op was called
	last     error // the last attempt's error; nil if ctx ended before the first
	ended    error // why the context ended, if that is why Do gave up
}

// Error returns the last attempt's error, with the number of attempts or the end of the
// context.
func (e *failure) Error() string {
	switch {
	case e.last == nil:
		return e.ended.Error()
	case e.ended == nil:
		return fmt.Sprintf("%v (after %d attempts)", e.last, e.attempts)
	default:
		return fmt.Sprintf("%v while retrying after: %v", e.ended, e.last)
	}
}

// Unwrap returns the cause of the context's end and the last error, if they are not nil.
func (e *failure) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.ended, e.last} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Do calls op until one of these happens:
//
//   - op returns nil. Do returns nil.
//   - op returns an error that is not retryable. Do returns the error unchanged.
//   - The policy has no further attempt. Do returns op's error: unchanged after a single
//     attempt, and with the number of attempts after several.
//   - ctx ends before an attempt or during a pause. Do returns an error that unwraps to
//     ctx.Err(), to the context's cause, and to the error of the last attempt, if there
//     was one.
//
// Do does not interrupt op: op must itself return soon after its context has ended.
//
// Nested loops multiply: if op retries, too, the numbers of attempts are multiplied. To
// bound the total time, give ctx a deadline.
//
// If the policy or a function is nil, Do returns an error without calling op.
func Do(ctx context.Context, p Policy, retryable func(error) bool, op func(context.Context) error) error {
	switch {
	case p == nil || retryable == nil || op == nil:
		return errNil
	case ctx.Err() != nil:
		return &failure{ended: reason.OfContext(ctx)}
	}
	var schedule backoff.BackOff // created at the first failure, so that a successful attempt does not pay for it
	for attempts := 1; ; attempts++ {
		err := op(ctx)
		if err == nil || !retryable(err) {
			return err
		}
		if schedule == nil {
			schedule = p.schedule()
		}
		pause := schedule.NextBackOff()
		switch {
		case pause == backoff.Stop && attempts == 1:
			return err
		case pause == backoff.Stop:
			return &failure{attempts: attempts, last: err}
		}
		if !sleep(ctx, stopOf(p), pause) {
			e := &failure{attempts: attempts, last: err}
			if ctx.Err() != nil {
				e.ended = reason.OfContext(ctx)
			}
			return e
		}
	}
}

// stopOf returns a channel that ends the pauses of a policy early, or nil. The client of
// package framework embeds its Policy in a type with this method, so that closing the
// client does not wait for a pause. Do then returns the last attempt's error.
func stopOf(p Policy) <-chan struct{} {
	if s, ok := p.(interface{ Stop() <-chan struct{} }); ok {
		return s.Stop()
	}
	return nil
}

// sleep reports whether the time has passed without an interruption.
func sleep(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
	case <-stop:
	}
	return false
}
