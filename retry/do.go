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

// failure is the error of a Do that gave up after more than one attempt, or
// while it waited for the next one.
type failure struct {
	attempts int   // how often op was called
	last     error // the last attempt's error; nil if ctx ended before the first
	ended    error // the cause of the context's end, if that is why Do gave up
}

// Error says how many attempts were made and how the last one ended.
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

// Unwrap returns the end and the last error, without those that are nil.
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
//   - op returns an error that is not retryable. Do returns it unchanged.
//   - The policy's schedule ends. Do returns op's error: unchanged after a
//     single attempt, and with the number of attempts after several.
//   - ctx ends before an attempt or during a pause. Do returns an error that
//     unwraps to ctx.Err(), to its cause, and to the error of the last attempt,
//     if there was one.
//
// Do does not interrupt op: op must itself return soon after its context has
// ended.
//
// Loops that are nested do not know of each other: if op retries, too, the
// numbers of attempts multiply. To bound the time of all of them, give ctx a
// deadline.
//
// A policy or a function that is nil is an error, and op is not called.
func Do(ctx context.Context, p Policy, retryable func(error) bool, op func(context.Context) error) error {
	switch {
	case p == nil || retryable == nil || op == nil:
		return errNil
	case ctx.Err() != nil:
		return &failure{ended: reason.OfContext(ctx)}
	}
	var schedule backoff.BackOff // made at the first failure: an attempt that succeeds costs nothing for it
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

// stopOf returns what ends the pauses of a policy before their time. The client
// of package framework embeds its Policy in a type with this method, so that an
// operation does not wait for its next attempt while the client is closed. Do
// returns the last attempt's error then.
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
