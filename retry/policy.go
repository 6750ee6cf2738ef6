package retry

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Policy makes the schedule of pauses for one run of Do. The schedule ends when
// NextBackOff returns backoff.Stop. Each call must return a new value, because
// a backoff.BackOff is stateful and not safe for concurrent use.
//
// The schedule is made after the first failure. One that counts time counts from
// then. UntilElapsed counts from the first attempt. Loops that are nested in
// another, see Do, share one schedule. It counts from the first attempt of the one
// that fails first, or once the outermost loop has failed, from the outermost
// loop's, until one of them succeeds and no other is failing.
//
// In the policies of this package a negative time counts as zero.
type Policy func() backoff.BackOff

// None never retries: one attempt.
func None() Policy {
	return func() backoff.BackOff { return &backoff.StopBackOff{} }
}

// Once retries once, after delay: two attempts.
func Once(delay time.Duration) Policy {
	return N(1, delay)
}

// N retries up to n times, delay apart: n+1 attempts. If n is zero or less, it
// never retries.
func N(n int, delay time.Duration) Policy {
	return limit(n, Forever(delay))
}

// Forever retries until the context ends, delay apart.
func Forever(delay time.Duration) Policy {
	delay = max(delay, 0) // the backoff package takes a pause of -1 as the end
	return func() backoff.BackOff { return backoff.NewConstantBackOff(delay) }
}

// UntilElapsed retries delay apart, and starts no attempt later than total
// after the first one. If total is zero or less, it never retries.
func UntilElapsed(total, delay time.Duration) Policy {
	if total <= 0 {
		return None()
	}
	delay = min(max(delay, 0), math.MaxInt64/2) // it is added to the time that has passed
	return func() backoff.BackOff { return &untilElapsed{total, delay, time.Now()} }
}

// untilElapsed counts from the begin of a loop, although it is made at the first
// failure. The backoff package's schedules count from when they are made.
type untilElapsed struct {
	total, delay time.Duration
	begun        time.Time
}

func (u *untilElapsed) Reset() { u.begun = time.Now() }

func (u *untilElapsed) NextBackOff() time.Duration {
	if time.Since(u.begun)+u.delay > u.total {
		return backoff.Stop
	}
	return u.delay
}

// Exponential retries up to n times. The pause starts at base and doubles each
// time. Every pause is varied by up to half of itself in either direction, so
// that clients which failed together do not return together. No pause is longer
// than an hour before it is varied.
func Exponential(base time.Duration, n int) Policy {
	return BoundedExponential(base, time.Hour, n)
}

// BoundedExponential is Exponential with no pause longer than longest before it
// is varied.
func BoundedExponential(base, longest time.Duration, n int) Policy {
	longest = min(max(longest, 0), math.MaxInt64/2) // half of it can be added

	// The backoff package does not bound the first pause.
	base = min(max(base, 0), longest)
	return limit(n, func() backoff.BackOff {
		return backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(base),
			backoff.WithMaxInterval(longest),
			backoff.WithMultiplier(2),
			// The default of 15 minutes is a surprise. Callers bound time by
			// their context.
			backoff.WithMaxElapsedTime(0),
		)
	})
}

func limit(n int, p Policy) Policy {
	if n <= 0 {
		return None()
	}
	return func() backoff.BackOff { return backoff.WithMaxRetries(p(), uint64(n)) }
}
