package zktest

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a ZooKeeper server in this process. All of its methods may be
// called from any goroutine.
type Server struct {
	*cluster                // its own, or that of its ensemble
	member   *Member        // nil for a standalone server; constant
	address  string         // in memory; constant
	listener net.Listener   // nil without WithTCP; constant
	wg       sync.WaitGroup // the goroutines of connections and listener
	born     time.Time      // constant
	queued   atomic.Int64   // bytes that wait for clients
	dialers  dialers

	// The rest is guarded by mu.
	replica
	conns  connSet
	reaper reaper
	clock  clock

	closed, stopped, paused bool
	refusing, blackHole     bool
	accepting               bool // the TCP port is open

	log      requestLog
	traffic  traffic // since the start, or since the four-letter word srst
	notified int     // watch events sent
	expired  int     // sessions whose clients were not heard of
}

// Start returns a running server that is closed when the test ends. Options
// that are nil or make no sense fail the test. In a bubble of testing/synctest,
// Start must be called in the bubble.
//
// A client has to connect by [Server.Dialer], as those of package curatortest
// do, unless the server was started [WithTCP]. One that does not is refused:
// dial tcp 127.0.0.1:1: connect: connection refused.
func Start(tb TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Run(opts...)
	if err != nil {
		tb.Fatalf("%v", err)
		return nil // Fatalf of a TB that is not a test may return
	}
	s.tb = tb
	tb.Cleanup(func() {
		s.dialers.logUnclosed(tb)
		_ = s.Close()
	})
	return s
}

// Run returns a running server, which the caller has to close. The error says
// which option is nil or makes no sense, or why the server cannot listen on the
// address given to [WithTCP].
func Run(opts ...Option) (*Server, error) {
	cfg, err := configured(opts)
	if err != nil {
		return nil, err
	}
	if cfg.spares > 0 {
		return nil, errors.New("zktest: spare members without an ensemble")
	}
	s := newServer(newCluster(cfg))
	s.alone = s
	if err := s.begin(); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("zktest: %w", err)
	}
	return s, nil
}

func (s *Server) begin() error {
	if err := s.simulateConfigured(victims{servers: []*Server{s}}); err != nil || s.cfg.tcp == "" {
		return err
	}
	return s.listen(s.cfg.tcp)
}

func newServer(c *cluster) *Server {
	s := &Server{
		cluster: c,
		address: memoryAddr(0),
		born:    time.Now(),
		replica: newReplica(c.cfg.version),
		clock:   clock{wall: c.cfg.wallClock, rate: 1},
	}
	s.reaper.srv = s
	return s
}

// Close ends the server: connections are closed, and every goroutine and timer
// of the server has ended when it returns. The data stays readable through
// [Server.Node] and the like. Close may be called more than once, but not from
// a function given to [Call] or [CallAfter]. The error is always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closeLocked()
	if s.member != nil {
		s.ens.updateLocked()
	} else {
		s.stopClocksLocked()
	}
	s.unlock()
	s.wg.Wait()
	if s.member == nil {
		s.timers.Wait()
	}
	return nil
}

// closeLocked is Close without waiting.
func (s *Server) closeLocked() {
	if s.closed {
		return
	}
	s.closed = true
	for _, c := range s.conns.inOrder() {
		c.closeLocked()
	}
	s.reaper.stopLocked()
	if s.listener != nil {
		_ = s.listener.Close()
	}
}

// Mode returns what the server says of itself: "standalone", or in an ensemble
// "leader", "follower", "observer", "looking" or "read-only". A server that
// does not run says nothing, and is "stopped" or "paused".
func (s *Server) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modeLocked()
}

// modeLocked is also what the four-letter words tell.
func (s *Server) modeLocked() string {
	m := s.member
	switch {
	case !s.upLocked():
		return "stopped"
	case s.paused:
		return "paused"
	case m == nil:
		return "standalone"
	case m.readOnly.on:
		return "read-only"
	case m.leader == nil:
		return "looking"
	case m.leader == m:
		return "leader"
	case m.ens.view.observes(m.id):
		return "observer"
	}
	return "follower"
}

// upLocked reports whether the member's process takes part.
func (s *Server) upLocked() bool { return !s.stopped && !s.closed }

// number is the member's ID, 0 for a standalone server.
func (s *Server) number() int {
	if s.member == nil {
		return 0
	}
	return s.member.id
}
