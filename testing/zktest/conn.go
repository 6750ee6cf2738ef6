package zktest

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// conn is the server's side of one connection. Two goroutines work for it:
// serve reads requests and carries them out in order, deliver writes what is in
// out. The first to end closes the connection, which ends the other.
type conn struct {
	srv  *Server
	host *Host // the client's, or nil if it has not dialed through one
	seq  int64 // the order of acceptance
	id   int64 // the order of first requests; 0 before
	nc   net.Conn
	out  *outbox
	done chan struct{} // closed with the connection

	behind atomic.Bool // the request came together with the one before; written by serve

	// Used by serve only; nil without a ChaosPlan.
	rng   *rand.Rand
	rngOf *simulation

	// The rest is guarded by srv.mu.
	key    int64         // identifies the client for a ChaosPlan
	ending *alarm        // not nil while the end of the connection is on its way
	sess   *session      // nil until the handshake
	ids    []wire.ID     // the client's identities
	sasl   *digestServer // nil before the first message
	closed bool

	blackHole bool // bytes come in and are forgotten, none go out
	leaving   bool // the end is on its way: bytes come in and are forgotten
}

// connSet is the open connections of a server; nil until there is one.
type connSet map[*conn]struct{}

// inOrder returns the connections, those first that came first.
func (s connSet) inOrder() []*conn {
	if len(s) == 0 { // most servers begin and end like that
		return nil
	}
	return slices.SortedFunc(maps.Keys(s), func(a, b *conn) int { return cmp.Compare(a.seq, b.seq) })
}

func (c *conn) addIDLocked(id wire.ID) {
	if !slices.Contains(c.ids, id) {
		c.ids = append(c.ids, id)
	}
}

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
	if c.blackHole {
		c.blackHole = true
		c.unregisterLocked()
		return
	}
	c.closeInTransitLocked((*conn).closeLocked)
}

// closeInTransitLocked does how to the connection. Under WithChaos the end
// takes its time to get to the client, as requests do: what was sent before it
// arrives before it, and no two clients receive theirs at once.
func (c *conn) closeInTransitLocked(how func(*conn)) {
	if c.srv.sim == nil || c.srv.closing {
		how(c)
		return
	}
	if c.closed || c.ending != nil {
		return
	}
	c.leaving = true
	c.unregisterLocked()
	c.ending = c.srv.afterLocked(jitterSlot(time.Microsecond, 1+c.key%998), func() {
		c.srv.mu.Lock()
		defer c.srv.unlock()
		how(c)
	})
}

// receivesLocked reports whether requests on the connection have any effect.
func (c *conn) receivesLocked() bool { return !c.closed && !c.blackHole && !c.leaving }

// blackHoleLocked makes the connection a black hole.
func (c *conn) blackHoleLocked() {
	c.blackHole = true
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

// awaitChangeLocked waits for the next change, or the end of the connection.
// s.mu is held before and after.
func (c *conn) awaitChangeLocked() {
	changed := c.srv.nextChangeLocked()
	c.srv.mu.Unlock() // unlock would be a change for us
	select {
	case <-changed:
	case <-c.done:
	}
	c.srv.mu.Lock()
}

// notifyLocked sends a watch event.
func (c *conn) notifyLocked(event wire.EventType, path string, frame []byte) {
	c.srv.notified++
	c.srv.sent++
	c.out.push(outFrame{bytes: frame, arrival: c.scheduleEventLocked(event, path)})
}
