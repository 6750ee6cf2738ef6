package zktest

import (
	"time"
)

func (c *conn) close() {
	c.srv.mu.Lock()
	defer c.srv.unlock()
	c.closeLocked()
}

// closeLocked ends the connection at once: what is queued is lost, and so are
// its watches. The session lives on.
func (c *conn) closeLocked() {
	if c.closed {
		return
	}
	c.closed = true
	c.ending.stop()
	close(c.done)
	c.nc.Close()
	c.out.drop()
	delete(c.srv.conns, c)
	c.unregisterLocked()
}

// unregisterLocked takes everything the server keeps for the connection away
// from it.
func (c *conn) unregisterLocked() {
	c.srv.watches.RemoveAll(c)
	if c.sess != nil && c.sess.conn == c {
		c.sess.conn = nil
	}
	if c.sess != nil && c.sess.stray == c {
		c.sess.stray = nil
	}
}

// closeByServerLocked is how the server itself ends a connection: the client of
// a connection that has become a black hole cannot see that.
func (c *conn) closeByServerLocked() {
	if c.blackHole || c.downstreamDead {
		c.blackHole = true
		c.unregisterLocked()
		return
	}
	c.closeInTransitLocked((*conn).closeLocked)
}

// closeInTransitLocked does how to the connection. Under WithChaos the end
// takes its time to get to the client, as requests do: what was sent before it
// arrives before it, and no two clients hear of theirs at once.
func (c *conn) closeInTransitLocked(how func(*conn)) {
	if c.srv.sim == nil || c.srv.closing {
		how(c)
		return
	}
	if c.closed || c.ending != nil {
		return
	}
	c.upstreamDead = true
	c.unregisterLocked()
	c.ending = c.srv.afterLocked(c.srv.jitterSlot(time.Microsecond, 1+c.key%998), func() {
		c.srv.mu.Lock()
		defer c.srv.unlock()
		how(c)
	})
}

// receivesLocked reports whether requests on the connection have any effect.
func (c *conn) receivesLocked() bool { return !c.closed && !c.blackHole && !c.upstreamDead }

// blackHoleLocked makes the connection a black hole.
func (c *conn) blackHoleLocked() {
	c.blackHole = true
	c.out.drop()
}

// halfOpenLocked reports whether one direction of the connection, or both, is
// dead.
func (c *conn) halfOpenLocked() bool { return c.blackHole || c.upstreamDead || c.downstreamDead }

// killDownstreamLocked lets nothing out any more.
func (c *conn) killDownstreamLocked() {
	c.downstreamDead = true
	c.out.drop()
}

// resetLocked ends the connection the way TCP's RST does.
func (c *conn) resetLocked() { c.closeInTransitLocked((*conn).resetNowLocked) }

func (c *conn) resetNowLocked() {
	if nc, canReset := c.nc.(interface{ SetLinger(sec int) error }); canReset {
		_ = nc.SetLinger(0) // it only makes the end less gentle
	}
	c.closeLocked()
}
