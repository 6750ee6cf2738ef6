package zktest

import (
	"time"
)

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
	return sleep(jitterSlot(wait, 1+c.key%998), c.done)
}
