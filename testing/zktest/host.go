package zktest

import (
	"context"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// Host is a machine on which clients run. A test can cut the machine off from all
// servers until [Host.Heal]. The cut includes connections that are dialed meanwhile.
// Clients of other hosts, and clients that dial through the server itself, do not
// notice the cut. All methods may be called from any goroutine.
//
//	host := srv.NewHost()
//	client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()))
//	...
//	host.Isolate() // only this client is cut off
type Host struct {
	cluster *cluster
	servers []*Server                    // the servers that the host can dial
	find    func(address string) *Server // returns nil if no server has the address

	// Guarded by cluster.mu.
	disconnected, isolated bool
	losing                 map[int64]struct{} // the isolation ends with the last of these sessions
	slept                  time.Duration
}

// NewHost returns a host whose dialer connects to this server, for every address.
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

// Disconnect ends the connections of the host, and makes dialing fail until
// [Host.Heal]. The clients of the host notice the end at once.
func (h *Host) Disconnect() {
	h.cluster.mu.Lock()
	defer h.cluster.unlock()
	h.disconnected = true
	h.eachConnLocked(func(c *conn) { c.closeInTransitLocked((*conn).closeLocked) })
}

// Isolate makes all present and future connections of the host black holes until
// [Host.Heal]: connections stay open, but nothing gets through in either direction, as
// if a cable had been pulled out. Clients and servers notice the cut by their timeouts.
// Isolate is [Server.BlackholeAll] for one host, but Server.Heal does not end it.
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

// LoseSessions makes the clients of the host lose their sessions as in production. It
// isolates the host until the servers have expired all present sessions of the host,
// and then heals the host. Meanwhile, other clients get the locks of the host's
// clients. A client that follows ZooKeeper's rules gives its session up earlier, by its
// own clock. [Session.Expire] is a loss without a warning.
//
// LoseSessions returns at once. The sessions expire after their timeouts, unless
// [Host.Heal] ends the isolation early. The isolation does not wait for a session that
// continues on another host. If the host has no session, LoseSessions does nothing and
// returns false.
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

// endedLocked records the end of a session of the host.
func (h *Host) endedLocked(sess *session) {
	if _, waited := h.losing[sess.id]; !waited {
		return
	}
	delete(h.losing, sess.id)
	if len(h.losing) == 0 {
		h.healLocked()
	}
}

// Suspend makes the host sleep for the duration d, like a laptop whose lid is closed or
// a paused virtual machine. Suspend does not wait: the sleep is over when it returns.
//
//   - The servers have received nothing from the host's sessions for d. Sessions whose
//     timeout has passed expire.
//   - For the clients of the host, no time has passed: their timers have stood still, as
//     Go's timers do while Linux is suspended. The clients learn of the sleep when
//     servers end their connections.
//
// A machine that wakes up often has no network at first: call [Host.Isolate] before
// Suspend, so that the clients receive nothing from servers. A negative d fails the test
// of the servers. For servers of [Run], a negative d is an error.
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

// suspended implements Suspended of package zkinside.
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
