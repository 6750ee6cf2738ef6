package zktest

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Clients and an operator who does everything a server can be made to do, all
// at random: nothing may hang, and the server's books must agree at any time.
func TestChaos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := SeedOf(t)
		srv := Start(t)
		var wg sync.WaitGroup
		over := make(chan struct{})
		for i := range 6 {
			wg.Go(func() { wander(t, srv, rand.New(rand.NewPCG(seed, uint64(i))), over) })
		}
		operate(t, srv, rand.New(rand.NewPCG(seed, 100)))
		close(over)
		require.NoError(t, srv.Close())
		wg.Wait()
		srv.audit(t)
		require.Zero(t, srv.Connections())
	})
}

// operate interferes a few thousand times.
func operate(t *testing.T, srv *Server, r *rand.Rand) {
	someone := func() int64 {
		if list := srv.Sessions(); len(list) > 0 {
			return list[r.IntN(len(list))].ID
		}
		return 1
	}
	actions := []Action{DropRequest(), DropReply(), Blackhole(), BlackholeReply(), DelayRequest(time.Second), DelayReply(time.Second), HoldRequest(time.Second),
		Fail(wire.ErrSystem), Call(func(Request) { srv.CutAll() }), CallAfter(func(r Request) { srv.Session(r.Session).Expire() })}
	disruptions := []func(){
		func() { srv.Session(someone()).Expire() },
		func() { srv.Session(someone()).Replace() },
		func() { srv.Session(someone()).Cut() },
		srv.CutAll,
		func() { srv.Session(someone()).Blackhole() },
		srv.BlackholeAll,
		srv.Heal,
		func() { _ = srv.Stop() },
		func() { _ = srv.Restart() },
		func() { _ = srv.Pause() },
		func() { _ = srv.Resume() },
		func() { srv.RefuseConnections(r.IntN(2) == 0) },
		func() { srv.ReapContainers() },
		func() { _ = srv.Delete("/a") },
		func() { _ = srv.Create("/a/b", nil) },
		func() {
			srv.Inject(Rule{Op: []wire.Op{wire.OpAny, wire.OpConnect, wire.OpCreate, wire.OpDelete}[r.IntN(4)], Do: actions[r.IntN(len(actions))]})
		},
		func() { _ = srv.Dump() },
	}
	for range thorough.Size(2000, 600) {
		disruptions[r.IntN(len(disruptions))]()
		srv.audit(t)
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
	}
}

// wander is a client that makes requests and does not give up.
func wander(t *testing.T, srv *Server, r *rand.Rand, over <-chan struct{}) {
	var session int64
	var secret []byte
	for {
		select {
		case <-over:
			return
		case <-time.After(100*time.Millisecond + time.Duration(r.IntN(1_000_000))):
		}
		nc, err := srv.Dialer()(t.Context(), "tcp", srv.Addr())
		if err != nil {
			continue
		}
		c := &wanderer{nc: nc}
		if session, secret = c.greet(session, secret); session != 0 {
			for c.err == nil {
				c.ask(r)
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			}
		}
		nc.Close()
	}
}

// wanderer is a connection that remembers its first error instead of failing
// the test.
type wanderer struct {
	nc  net.Conn
	err error
}

func (c *wanderer) greet(session int64, secret []byte) (int64, []byte) {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	encodeValues(e, 0, int64(0), 2000, session, secret)
	d := c.roundTrip(e.Frame())
	d.Int64()
	session, secret = d.Int64(), d.Buffer()
	if c.err != nil {
		return 0, nil
	}
	return session, secret
}

func (c *wanderer) ask(r *rand.Rand) {
	paths := []string{"/a", "/a/b", "/a/c", "/d", "/d/e"}
	path := paths[r.IntN(len(paths))]
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	e.Int32(1)
	switch r.IntN(7) {
	case 0, 1:
		encodeValues(e, int(wire.OpCreate), path, []byte("x"), datatree.OpenACL, r.IntN(4))
	case 2:
		encodeValues(e, int(wire.OpCreateContainer), path, []byte("x"), datatree.OpenACL, 4)
	case 3:
		encodeValues(e, int(wire.OpDelete), path, -1)
	case 4:
		encodeValues(e, int(wire.OpGetChildren), path, true)
	case 5:
		encodeValues(e, int(wire.OpExists), path, true)
	case 6:
		encodeValues(e, int(wire.OpAddWatch), path, r.IntN(2))
	}
	c.roundTrip(e.Frame())
}

// roundTrip returns the next frame, be it the answer or an event.
func (c *wanderer) roundTrip(frame []byte) *wire.Decoder {
	if _, c.err = c.nc.Write(frame); c.err != nil {
		return &wire.Decoder{}
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(3 * time.Second))
	var answer []byte
	answer, c.err = wire.ReadFrame(c.nc)
	return &wire.Decoder{Buf: answer}
}

// audit checks what must hold whenever nobody holds the lock.
func (s *Server) audit(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NoError(t, errors.Join(s.auditTree(), s.auditSessions(), s.auditWatches()))
}

func (s *Server) auditTree() error {
	var err error
	walked := 0
	s.tree.Walk("/", func(path string, n *datatree.Node) {
		walked++
		if n.Kind == datatree.Ephemeral && s.sessions[n.Owner] == nil {
			err = errors.New(path + " has outlived its session")
		}
	})
	if walked != s.tree.Len() {
		return errors.New("a node is unknown to its parent")
	}
	return err
}

func (s *Server) auditSessions() error {
	for _, sess := range s.sessions {
		if sess.conn != nil && (sess.conn.sess != sess || sess.conn.closed) {
			return errors.New("a session has a foreign connection")
		}
		if !s.stopped && !s.closed && !s.paused && time.Now().After(sess.deadline) {
			return errors.New("a session has outlived its deadline")
		}
	}
	return nil
}

func (s *Server) auditWatches() error {
	watches := 0
	for _, w := range s.watches.All() {
		watches++
		if c := w.Conn; c.closed || c.sess == nil || c.sess.conn != c {
			return errors.New("a watch of no session")
		}
	}
	if watches != s.watches.Len() {
		return errors.New("the watches are counted wrong")
	}
	return nil
}
