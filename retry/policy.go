package retry

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Policy says how often Do tries again, and how long it pauses before each
// attempt. A Policy comes from None, Forever or Exponential. It has no state:
// one Policy may serve any number of goroutines, and each run of Do begins with
// the first pause. A nil Policy is an error of the function that takes it.
type Policy interface {
	// schedule returns the pauses of one run, up to backoff.Stop.
	schedule() backoff.BackOff
}

type policy func() backoff.BackOff

func (p policy) schedule() backoff.BackOff { return p() }

// None never retries: one attempt.
func None() Policy {
	return policy(func() backoff.BackOff { return &backoff.StopBackOff{} })
}

// Forever retries until the context ends, delay apart. A negative delay counts
// as zero.
func Forever(delay time.Duration) Policy {
	delay = max(delay, 0) // the backoff package takes a pause of -1 as the end
	return policy(func() backoff.BackOff { return backoff.NewConstantBackOff(delay) })
}

// Exponential retries up to n times: n+1 attempts, or one if n is zero or less.
// The pause starts at base and doubles each time, up to longest. Every pause is
// varied by up to half of itself in either direction, so that clients which
// failed together do not return together. A negative time counts as zero.
func Exponential(base, longest time.Duration, n int) Policy {
	if n <= 0 {
		return None()
	}
	longest = min(max(longest, 0), math.MaxInt64/2) // half of it can be added
	base = min(max(base, 0), longest)               // the backoff package does not bound the first pause
	return policy(func() backoff.BackOff {
		return backoff.WithMaxRetries(backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(base),
			backoff.WithMaxInterval(longest),
			backoff.WithMultiplier(2),
			// The default of 15 minutes is a surprise. Callers bound time by
			// their context.
			backoff.WithMaxElapsedTime(0),
		), uint64(n))
	})
}
