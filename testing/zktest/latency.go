package zktest

import (
	"time"
)

// jitterSlot lengthens a wait so that it ends in a nanosecond that belongs to
// key: every client has its own in each microsecond.
func (c *cluster) jitterSlot(wait time.Duration, key int64) time.Duration {
	now := time.Now()
	at := now.Add(max(wait, 0)).Truncate(time.Microsecond).Add(time.Duration(key % int64(time.Microsecond)))
	if !at.After(now) {
		at = at.Add(time.Microsecond)
	}
	return at.Sub(now)
}

// simulateLatency is the way of a request to the server. It reports false if
// the connection ended meanwhile.
func (c *conn) simulateLatency(x *exchange) bool {
	c.srv.mu.Lock()
	sim := c.srv.sim
	if sim != nil && c.rngOf != sim {
		if c.key = x.req.Session; c.key == 0 {
			c.key = c.seq
		}
		c.rng, c.rngOf = sim.rngFor(c.key), sim
	}
	atWork := sim != nil && (!sim.stopped || sim.fromBeginning)
	c.srv.mu.Unlock()
	if !atWork {
		return true
	}
	wait := time.Duration(c.rng.Int64N(int64(sim.Latency) + 1))
	return sleep(sim.cluster.jitterSlot(wait, 1+c.key%998), c.done)
}
