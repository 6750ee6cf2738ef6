package zktest

import (
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a ZooKeeper server in this process. All of its methods may be
// called from any goroutine.
type Server struct {
	*cluster                // the server's own, or the ensemble's
	member   *Member        // nil for a standalone server; constant
	address  string         // for dialing in memory; constant
	bubbled  bool           // made in a bubble of testing/synctest; constant
	opening  sync.Mutex     // held while the port opens; taken before mu
	wg       sync.WaitGroup // the goroutines of connections and listener
	born     time.Time      // constant
	queued   atomic.Int64   // bytes that wait for clients
	dialers  dialers

	// The mutex mu guards the following fields.
	replica
	conns  connSet
	reaper reaper

	listener                net.Listener // nil before Addr and without WithTCP
	closed, stopped, paused bool
	refusing, blackHole     bool
	accepting               bool // the TCP port is open
	held                    []*heldRequest

	log      requestLog
	received int // frames, for the four-letter words
	sent     int
	notified int // watch events sent
	expired  int // sessions that timed out
}

func newServer(c *cluster) *Server {
	s := &Server{
		cluster: c,
		address: memoryAddr(0),
		born:    time.Now(),
		bubbled: inBubble(),
		replica: newReplica(&c.cfg),
	}
	s.reaper.srv = s
	return s
}

// modeLocked returns Stats.Mode, which the four-letter words show, too.
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

// upLocked reports whether the server's process runs or is paused.
func (s *Server) upLocked() bool { return !s.stopped && !s.closed }

// number returns the member's ID, or 0 for a standalone server.
func (s *Server) number() int {
	if s.member == nil {
		return 0
	}
	return s.member.id
}

// memoryAddr returns the address of a server without a port. Number 0 is a
// standalone server, and the other numbers are members of an ensemble. The address
// is an IP literal, because clients look host names up. Its zone appears in the
// error of any dialer but the server's: dial tcp
// [::1%needs-zktest.Server.Dialer]:1: connect: connection refused. No process
// listens on ports like these, so such a dialer reaches no real server.
func memoryAddr(number int) string {
	const firstPort = 1
	return net.JoinHostPort("::1%needs-zktest.Server.Dialer", strconv.Itoa(firstPort+number))
}

// inBubble reports whether the caller runs in a bubble of testing/synctest. That
// package has no function for it, but the runtime writes it behind the number of
// the goroutine.
func inBubble() bool {
	var stack [128]byte
	line, _, _ := strings.Cut(string(stack[:runtime.Stack(stack[:], false)]), "\n")
	return strings.Contains(line, "synctest bubble")
}

// Addr returns an address for any client. The first call opens a TCP port of the
// loopback interface, unless the server was started [WithTCP].
//
// In a bubble of testing/synctest there are no ports. Addr then returns a made-up
// address, [::1%needs-zktest.Server.Dialer]:1, that only [Server.Dialer] and
// [Server.DialTimeout] understand. The error of any other dialer has this address.
func (s *Server) Addr() string {
	s.opening.Lock()
	defer s.opening.Unlock()
	if addr, open := s.port(); open || s.bubbled {
		return addr
	}
	_ = s.listen("127.0.0.1:0") // without a port, clients need the dialer
	addr, _ := s.port()
	return addr
}

// port returns the address of the port, or a made-up address and false if there is
// no port, or it is closed for good.
func (s *Server) port() (addr string, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return s.address, s.closed
	}
	return s.listener.Addr().String(), true
}
