package zktest

import (
	"context"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// Host is a machine on which clients run. A test can cut it off from all
// servers. The cut lasts until [Host.Heal], and includes connections that are
// dialed meanwhile. The clients of other hosts, and those that dial through the
// server itself, do not notice. All methods may be called from any goroutine.
//
//	host := srv.NewHost()
//	client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()))
//	...
//	host.Isolate() // this client alone neither sends nor hears anything
type Host struct {
	cluster *cluster
	servers []*Server                    // the servers that it can dial
	find    func(address string) *Server // nil: there is none

	// Guarded by cluster.mu.
	disconnected, isolated bool
	losing                 map[int64]struct{} // sessions whose end is the end of the isolation
	slept                  time.Duration
}

// NewHost returns a host from which this server can be dialed, whatever the
// address.
func (s *Server) NewHost() *Host {
	return &Host{cluster: s.cluster, servers: []*Server{s}, find: func(string) *Server { return s }}
}

// NewHost returns a host from which every member can be dialed.
func (e *Ensemble) NewHost() *Host {
	return &Host{cluster: e.cluster, servers: e.servers(), find: e.serverAt}
}

// Dialer returns a function that connects within the process, with the
// signature of [net.Dialer.DialContext].
func (h *Host) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return h.dial
}

func (h *Host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	h.cluster.mu.Lock()
	disconnected := h.disconnected
	h.cluster.mu.Unlock()
	switch s := h.find(address); {
	case disconnected:
		return nil, memnet.DialError(network, address, syscall.EHOSTUNREACH)
	case s == nil:
		return nil, memnet.DialError(network, address, syscall.ECONNREFUSED)
	default:
		return s.dialFrom(ctx, h, network, address)
	}
}

// Disconnect ends the connections of the host, so that its clients know at
// once, and makes dialing fail until [Host.Heal].
func (h *Host) Disconnect() {
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	h.disconnected = true
	h.eachConnLocked(func(c *conn) { c.closeInTransitLocked((*conn).closeLocked) })
}

// Isolate makes all connections of the host black holes, future ones included,
// until [Host.Heal]: they stay open, but nothing gets through in either
// direction, as if a cable had been pulled out. Clients and servers learn of it
// by their timeouts. It is [Server.BlackholeAll] for one host; Server.Heal does
// not end it.
func (h *Host) Isolate() {
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	h.isolateLocked()
}

func (h *Host) isolateLocked() {
	h.isolated = true
	h.eachConnLocked((*conn).blackHoleLocked)
}

// Heal lets the host connect again. Connections that were black holes are
// reset, except connections to servers that [Server.BlackholeAll] has cut off.
func (h *Host) Heal() {
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	h.healLocked()
}

func (h *Host) healLocked() {
	h.disconnected, h.isolated, h.losing = false, false, nil
	h.eachConnLocked(func(c *conn) {
		if c.blackHole && !c.srv.blackHole {
			c.resetLocked()
		}
	})
}

// LoseSessions makes the clients of the host lose their sessions as in
// production: the host is isolated until the servers have expired all sessions
// that it has now, and then healed. Meanwhile, other clients get the locks of
// the host's clients, which find their sessions expired when they reconnect. A
// client that keeps ZooKeeper's rules gives the session up earlier, by its own
// clock; see [Session.Expire] for a loss without a warning.
//
// LoseSessions returns at once. The sessions expire after their timeouts, and
// [Host.Heal] ends the isolation early. LoseSessions does not wait for a session that
// its client has continued from another host. LoseSessions returns false, and does
// nothing, if the host has no session.
func (h *Host) LoseSessions() bool {
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	losing := make(map[int64]struct{})
	for _, sess := range h.sessionsLocked() {
		losing[sess.id] = struct{}{}
	}
	if len(losing) == 0 {
		return false
	}
	h.losing = losing
	h.isolateLocked()
	return true
}

// endedLocked notes the end of each session of the host.
func (h *Host) endedLocked(sess *session) {
	if _, waited := h.losing[sess.id]; !waited {
		return
	}
	delete(h.losing, sess.id)
	if len(h.losing) == 0 {
		h.healLocked()
	}
}

// Suspend makes the host sleep for d, as a laptop whose lid is closed, or a
// virtual machine that is paused. Nothing waits: the sleep is over when Suspend
// returns.
//
//   - For the servers, the sessions of the host have been silent for d. Sessions
//     whose timeout is over expire, which clients of other hosts see.
//   - For the host's own clients, no time has passed: their timers stood still, as
//     Go's timers do on a suspended Linux. They learn of the sleep when a server ends
//     their connections.
//
// A machine that wakes up is often without a network for a while: call
// [Host.Isolate] before, so that the clients learn nothing from servers. A
// negative d is refused.
func (h *Host) Suspend(d time.Duration) error {
	if d < 0 {
		return h.cluster.misuse("a suspension for %v", d)
	}
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	h.slept += d
	s := h.servers[0]
	for _, sess := range h.sessionsLocked() {
		if s.member != nil {
			s.ens.flushTouchLocked(sess)
		}
		sess.backdateLocked(d)
	}
	return nil
}

// suspended is Suspended of package zkinside.
func (h *Host) suspended() time.Duration {
	h.cluster.mu.Lock()
	defer h.cluster.mu.Unlock()
	return h.slept
}

// sessionsLocked returns the sessions whose last connection came from the host,
// oldest first.
func (h *Host) sessionsLocked() []*session {
	return slices.DeleteFunc(h.cluster.oldestFirstLocked(), func(sess *session) bool { return sess.host != h })
}

func (h *Host) eachConnLocked(do func(*conn)) {
	for _, s := range h.servers {
		for _, c := range s.conns.inOrder() {
			if c.host == h {
				do(c)
			}
		}
	}
}
