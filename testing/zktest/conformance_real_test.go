//go:build real

package zktest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A conformance test is a script of requests. It is performed against real
// ZooKeeper and against a Server, both over TCP, frame by frame, and everything
// that comes back is compared line by line: see transcript_test.go for what a
// line says, and conformance_<topic>_test.go for the scripts.
//
// The servers agree with ZooKeeper 3.9. Where older ones differ, and a client
// could notice, the script says so to conformSince39; those calls are the list
// of the differences between the versions.

// conform runs a script on both servers.
func conform(t *testing.T, name string, script func(s *stage)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { compare(t, realServer.get(t), script) })
}

// conformSince39 is conform for what ZooKeeper before 3.9 does differently. CI
// runs the tests with both versions.
func conformSince39(t *testing.T, name, before string, script func(s *stage)) {
	t.Helper()
	t.Run(name+" since 3.9", func(t *testing.T) {
		srv := realServer.get(t)
		if !realServer.is39() {
			t.Skipf("ZooKeeper %s: %s", realServer.version, before)
		}
		compare(t, srv, script)
	})
}

// conformUntil393 is conform for what ZooKeeper does differently since 3.9.4. A
// Server does not imitate that.
func conformUntil393(t *testing.T, name, since string, script func(s *stage)) {
	t.Helper()
	t.Run(name+" until 3.9.3", func(t *testing.T) {
		srv := realServer.get(t)
		if realServer.isSince394() {
			t.Skipf("ZooKeeper %s: %s", realServer.version, since)
		}
		compare(t, srv, script)
	})
}

// conformInEachVersion is conform for what a Server can do as the real server
// does, with WithVersion38 or without. No Server behaves as 3.8.4 or a later
// version of 3.8.
func conformInEachVersion(t *testing.T, name string, script func(s *stage)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		srv := realServer.get(t)
		if realServer.isSince384() && !realServer.is39() {
			t.Skipf("ZooKeeper %s", realServer.version)
		}
		compare(t, srv, script, realServer.likewise()...)
	})
}

func compare(t *testing.T, srv *zkserver.Server, script func(s *stage), opts ...Option) {
	past := wipe(t, srv)
	fake := newLookalike(t, opts...)
	fake.adopt(past)
	requireSame(t, srv, fake, past.zxid, script)
}

// requireSame performs the script on both servers. Their last transaction was
// base.
func requireSame(t *testing.T, srv *zkserver.Server, fake *Server, base int64, script func(s *stage)) {
	t.Helper()
	var want, got []string
	var both sync.WaitGroup // at the same time: some scripts wait
	both.Go(func() { want = perform(t, srv.Addr(), base, script) })
	both.Go(func() { got = perform(t, fake.Addr(), base, script) })
	both.Wait()
	require.Equal(t, want, got, "real ZooKeeper against zktest")
}

// The bounds of session timeouts on both servers. A session of the shortest
// kind outlives what a busy machine may do between two lines of a script.
const shortestSession, longestSession = 6 * time.Second, time.Minute

// newLookalike returns a server that is configured as the real one is.
func newLookalike(t *testing.T, opts ...Option) *Server {
	t.Helper()
	return Start(t, append([]Option{WithTCP("127.0.0.1:0"), WithSessionTimeouts(shortestSession, longestSession)}, opts...)...)
}

// stage is a server with the clients of one script.
type stage struct {
	t       *testing.T
	addr    string
	base    int64 // zxids are told relative to this one
	last    int64 // the highest zxid of an answer so far
	players []*player
	lines   []string
}

// perform runs the script and returns the transcript. It leaves no session
// behind.
func perform(t *testing.T, addr string, base int64, script func(s *stage)) []string {
	t.Helper()
	s := &stage{t: t, addr: addr, base: base}
	defer s.abandon()
	script(s)
	s.finish()
	return s.lines
}

// finish lets every client hear what it has not heard yet, and closes its
// session.
func (s *stage) finish() {
	for _, p := range s.players {
		if !p.connected {
			p.reconnect()
		}
		if p.connected {
			p.closeSession()
		}
	}
}

// abandon ends the sessions that a script has left when it failed: their expiry
// would be a transaction in the middle of a later script.
func (s *stage) abandon() {
	for _, p := range s.players {
		if p.connected {
			p.sendXid(0, wire.OpCloseSession)
			p.watchTheClock()
			_, _ = io.Copy(io.Discard, p.nc)
		}
	}
}

// client returns a new client with a session.
func (s *stage) client() *player {
	p := &player{raw: &raw{t: s.t}, stage: s, name: string(rune('a' + len(s.players)))}
	s.players = append(s.players, p)
	p.open()
	return p
}

func (s *stage) dial() net.Conn {
	nc, err := net.Dial("tcp", s.addr)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { nc.Close() })
	return nc
}
