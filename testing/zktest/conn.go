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

// conn is the server's side of one connection. It has two goroutines: serve reads
// requests and carries them out in order, and deliver writes the frames in out. A
// goroutine that ends closes the connection, which ends the other goroutine.
type conn struct {
	srv  *Server
	host *Host // the client's, or nil if the client has not dialed through a Host
	seq  int64 // the order of acceptance
	id   int64 // the order of first requests; 0 before the first request
	nc   net.Conn
	out  *outbox
	done chan struct{} // closed at the end of the connection

	behind atomic.Bool // the request arrived together with the previous request; written by serve

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

	blackHole bool // received bytes are dropped, and none are sent
	leaving   bool // the end is on its way to the client, and received bytes are dropped
}

// connSet has the open connections of a server. It is nil before the first connection.
type connSet map[*conn]struct{}

// inOrder returns the connections in the order of their arrival.
func (s connSet) inOrder() []*conn {
	if len(s) == 0 { // usual at the beginning and at the end of a test
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

// closeLocked ends the connection at once. Queued frames and the watches of the
// connection are lost. The session lives on.
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

// unregisterLocked removes everything that the server keeps for the connection.
func (c *conn) unregisterLocked() {
	c.srv.watches.RemoveAll(c)
	if c.sess != nil && c.sess.conn == c {
		c.sess.conn = nil
	}
	if c.sess != nil && c.sess.stray == c {
		c.sess.stray = nil
	}
}

// closeByServerLocked ends a connection for the server's own reasons. The client of a
// black hole does not notice the end.
func (c *conn) closeByServerLocked() {
	if c.blackHole {
		c.unregisterLocked()
		return
	}
	c.closeInTransitLocked((*conn).closeLocked)
}

// closeInTransitLocked ends the connection by the function how. Under WithChaos, the
// end takes time to reach the client, like an answer: the client first receives
// everything that was sent earlier, and no two clients receive their ends at once.
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
		_ = nc.SetLinger(0) // after an error, the end is only less abrupt
	}
	c.closeLocked()
}

// awaitChangeLocked waits for the next change of the server, or for the end of the
// connection. The server's mutex is held before and after the call.
func (c *conn) awaitChangeLocked() {
	changed := c.srv.nextChangeLocked()
	c.srv.mu.Unlock() // not Server.unlock, which would report a change
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
