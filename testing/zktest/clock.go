package zktest

import "time"

// clock is the clock of a server, which may be wrong.
type clock struct {
	wall   func() time.Time
	offset time.Duration // how far ahead the wall clock is
	rate   float64       // how fast the clock for sessions is; 1 is right
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
