package zktest

import (
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a ZooKeeper server in this process. All of its methods may be
// called from any goroutine.
type Server struct {
	*cluster                // its own, or its ensemble's
	member   *Member        // nil for a standalone server; constant
	address  string         // for dialing in memory; constant
	listener net.Listener   // nil without WithTCP; constant
	wg       sync.WaitGroup // the goroutines of connections and listener
	born     time.Time      // constant
	queued   atomic.Int64   // bytes that wait for clients
	dialers  dialers

	// The rest is guarded by mu.
	replica
	conns  connSet
	reaper reaper

	closed, stopped, paused bool
	refusing, blackHole     bool
	accepting               bool // the TCP port is open
	held                    []*heldRequest

	log      requestLog
	received int // frames, for the four-letter words
	sent     int
	notified int // watch events sent
	expired  int // sessions whose clients were not heard of
}

func newServer(c *cluster) *Server {
	s := &Server{
		cluster: c,
		address: memoryAddr(0),
		born:    time.Now(),
		replica: newReplica(&c.cfg),
	}
	s.reaper.srv = s
	return s
}

// Mode returns what the server says of itself: "standalone", or in an ensemble
// "leader", "follower" or "looking". A server that
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
	case m.leader == nil:
		return "looking"
	case m.leader == m:
		return "leader"
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

// memoryAddr returns the address of a server without a port: number 0 is a
// standalone server, the others are members of an ensemble. It is an IP literal
// because clients look host names up. No process listens on ports like these: a
// client that forgets the dialer is refused, and does not come to a real server
// on the developer's machine.
func memoryAddr(number int) string {
	const firstPort = 1
	return "127.0.0.1:" + strconv.Itoa(firstPort+number)
}

// Addr returns the TCP address of a server with [WithTCP]. Without it, it is a
// made-up address, such as 127.0.0.1:1, that only [Server.Dialer]
// understands: a client without it is refused.
func (s *Server) Addr() string {
	if s.listener != nil {
		return s.listener.Addr().String()
	}
	return s.address
}
