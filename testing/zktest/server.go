package zktest

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// TB is the part of [testing.TB] that this package uses. It is an interface of
// its own so that a program which embeds a server does not link package testing.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Server is a ZooKeeper server in this process. All of its methods may be called
// from any goroutine.
type Server struct {
	cfg      config
	listener net.Listener   // nil without WithTCP
	wg       sync.WaitGroup // everything Close waits for
	born     time.Time
	secret   uint64       // behind the passwords of sessions
	queued   atomic.Int64 // bytes that wait for clients

	// mu guards the rest, and the marked fields of conn and session. It is held
	// for work in memory only, never while waiting or calling a test's function.
	mu          sync.Mutex
	tree        *tree
	watches     *watches
	zxid        int64 // of the last transaction
	sessions    map[int64]*session
	lastSession int64
	conns       map[*conn]struct{}
	accepted    int64 // connections so far
	reaper      *alarm

	closed, stopped       bool
	refusing, partitioned bool
	replaced              map[int64]struct{} // sessions to be replaced silently at the next handshake
	injections            []*Injection

	log      requestLog
	traffic  traffic       // since the start, or since the four-letter word srst
	notified int           // watch events sent
	changed  chan struct{} // closed at the next change; nil if nobody waits
}

// New returns a running server that is closed when the test ends. Inside a
// synctest bubble it must be created in the bubble.
func New(tb TB, opts ...Option) *Server {
	tb.Helper()
	s, err := NewServer(opts...)
	if err != nil {
		tb.Fatalf("zktest: %v", err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// NewServer returns a running server, which the caller has to close. The only
// possible error is that of listening on the address given to [WithTCP].
func NewServer(opts ...Option) (*Server, error) {
	s := &Server{
		cfg:      defaults(),
		born:     time.Now(),
		secret:   rand.Uint64(),
		tree:     newTree(),
		watches:  newWatches(),
		sessions: make(map[int64]*session),
		conns:    make(map[*conn]struct{}),
		replaced: make(map[int64]struct{}),
	}
	s.lastSession = firstSessionID(s.born)
	for _, opt := range opts {
		opt(&s.cfg)
	}
	if s.cfg.tcp != "" {
		if err := s.listen(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close ends the server: connections are closed, and every goroutine and timer
// of the server has ended when it returns. The data stays readable through
// [Server.Node] and the like. Close may be called more than once, but not from a
// function given to [Call] or [CallAfter]. The error is always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		for c := range s.conns {
			c.closeLocked()
		}
		s.stopClocks()
		if s.listener != nil {
			_ = s.listener.Close()
		}
	}
	s.unlock()
	s.wg.Wait()
	return nil
}

// stopClocks keeps everything from happening by itself. s.mu is held.
func (s *Server) stopClocks() {
	for _, sess := range s.sessions {
		sess.expiry.stop()
	}
	s.reaper.stop()
	s.reaper = nil
}

// unlock ends a critical section that may have changed something, and lets the
// waiting functions look again.
func (s *Server) unlock() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	s.mu.Unlock()
}
