package zktest

import "time"

// clock is the clock of a server, which may be wrong.
type clock struct {
	wall   func() time.Time
	offset time.Duration // of the wall clock
	rate   float64       // of the clock for sessions
}

// nowMillis is the time that goes into nodes.
func (c *clock) nowMillis() int64 { return c.wall().Add(c.offset).UnixMilli() }

// measured returns how long a timeout lasts by the clock.
func (c *clock) measured(timeout time.Duration) time.Duration {
	if c.rate == 1 {
		return timeout
	}
	const longest = 100 * 365 * 24 * time.Hour
	return time.Duration(min(float64(timeout)/c.rate, float64(longest)))
}
