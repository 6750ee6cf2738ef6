package retry

import (
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Policy says how often Do retries, and how long it pauses before each attempt. None,
// Forever and Exponential return policies. A Policy has no state: any number of
// goroutines may share it, and each call of Do starts with the first pause. Functions
// that take a Policy return an error for nil.
type Policy interface {
	// schedule returns the pauses of one call of Do. After the last one, it returns
	// backoff.Stop.
	schedule() backoff.BackOff
}

type policy func() backoff.BackOff

func (p policy) schedule() backoff.BackOff { return p() }

// None makes one attempt and never retries.
func None() Policy {
	return policy(func() backoff.BackOff { return &backoff.StopBackOff{} })
}

// Forever retries until the context ends, with a pause of delay. A negative delay counts
// as zero.
func Forever(delay time.Duration) Policy {
	delay = max(delay, 0) // the backoff package treats a pause of -1 as the end
	return policy(func() backoff.BackOff { return backoff.NewConstantBackOff(delay) })
}

// Exponential retries up to n times: n+1 attempts, or one if n is zero or less. The pause
// starts at base and doubles each time, up to longest. Every pause is varied by up to
// half of its length in either direction, so that clients which failed together do not
// return together. A negative time counts as zero.
func Exponential(base, longest time.Duration, n int) Policy {
	if n <= 0 {
		return None()
	}
	longest = min(max(longest, 0), math.MaxInt64/2) // leaves room to add half of it
	base = min(max(base, 0), longest)               // the backoff package does not limit the first pause
	return policy(func() backoff.BackOff {
		return backoff.WithMaxRetries(backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(base),
			backoff.WithMaxInterval(longest),
			backoff.WithMultiplier(2),
			// The default of 15 minutes would be a surprise. Callers limit the time by
			// their context.
			backoff.WithMaxElapsedTime(0),
		), uint64(n))
	})
}
