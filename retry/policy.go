package retry

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Policy makes the schedule of pauses for one run of Do. The schedule ends when NextBackOff returns backoff.Stop.
// Each call must return a fresh value, because a backoff.BackOff is stateful and not safe for concurrent use.
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

// N retries up to n times, delay apart: n+1 attempts. An n of zero or less never retries.
func N(n int, delay time.Duration) Policy {
	return limit(n, Forever(delay))
}

// Forever retries until the context ends, delay apart.
func Forever(delay time.Duration) Policy {
	delay = max(delay, 0) // to the backoff package a pause of -1 means that there are no more
	return func() backoff.BackOff { return backoff.NewConstantBackOff(delay) }
}

// UntilElapsed retries delay apart and starts no attempt later than total after the first one.
// A total of zero or less never retries.
func UntilElapsed(total, delay time.Duration) Policy {
	if total <= 0 {
		return None() // to the backoff package a MaxElapsedTime of zero means for ever
	}
	delay = max(delay, 0)
	return func() backoff.BackOff {
		return backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(delay),
			backoff.WithMaxInterval(delay),
			backoff.WithMultiplier(1),
			backoff.WithRandomizationFactor(0),
			backoff.WithMaxElapsedTime(total),
		)
	}
}

// Exponential retries up to n times. The pause starts at base and doubles each time; every pause is varied by up to
// half of itself in either direction, so that clients which failed together do not return together. No pause is longer
// than an hour before it is varied.
func Exponential(base time.Duration, n int) Policy {
	return BoundedExponential(base, time.Hour, n)
}

// BoundedExponential is Exponential with no pause longer than longest before it is varied.
func BoundedExponential(base, longest time.Duration, n int) Policy {
	longest = min(max(longest, 0), math.MaxInt64/2) // so that it can be varied
	base = min(max(base, 0), longest)               // for the backoff package does not bound the first pause
	return limit(n, func() backoff.BackOff {
		return backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(base),
			backoff.WithMaxInterval(longest),
			backoff.WithMultiplier(2),
			backoff.WithMaxElapsedTime(0), // the default of 15 minutes is a surprise; callers bound time by their context
		)
	})
}

func limit(n int, p Policy) Policy {
	if n <= 0 {
		return None()
	}
	return func() backoff.BackOff { return backoff.WithMaxRetries(p(), uint64(n)) }
}
