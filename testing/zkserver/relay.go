package zkserver

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// gate is what the connections of one link pass through. It is open or shut.
type gate struct {
	mu      sync.Mutex
	shut    bool
	changed chan struct{} // closed when shut changes
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

func (g *gate) setShut(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != shut {
		g.shut = shut
		close(g.changed)
		g.changed = make(chan struct{})
	}
}

// state returns whether the gate is shut, and a channel that is closed when it is no longer so.
func (g *gate) status() (shut bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut, g.changed
}

// wait returns when the gate is open or ctx has ended.
func (g *gate) wait(ctx context.Context) {
	for ctx.Err() == nil {
		shut, changed := g.status()
		if !shut {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// greeting passes on the first words of a connection.
type handshakeFunc func(to io.Writer, from io.Reader) error

// relay passes on the connections that one server makes to a port of another.
type relay struct {
	ctx        context.Context // its end closes everything
	goroutines *sync.WaitGroup // all that the relay has started
	gate       *gate
	target     string
	handshake  handshakeFunc // may be nil
}

// startRelay starts a relay and returns the port on which it listens.
func startRelay(ctx context.Context, goroutines *sync.WaitGroup, g *gate, target string, greet handshakeFunc) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	r := &relay{ctx: ctx, goroutines: goroutines, gate: g, target: target, handshake: greet}
	goroutines.Go(func() { r.accept(listener) })
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (r *relay) accept(listener net.Listener) {
	stop := context.AfterFunc(r.ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil { // closed
			return
		}
		r.goroutines.Go(func() { r.serve(conn) })
	}
}

func (r *relay) serve(from net.Conn) {
	defer r.closeWithContext(from)()
	if shut, changed := r.gate.status(); shut {
		r.discardUntilOpen(from, changed)
		return
	}
	to, err := r.dial()
	if err != nil {
		return
	}
	defer r.closeWithContext(to)()
	var back sync.WaitGroup
	back.Go(func() { r.forward(from, to) })
	defer back.Wait()
	if r.handshake != nil {
		if err := r.handshake(to, from); err != nil {
			_ = to.Close()
			return
		}
	}
	r.forward(to, from)
}

// closeAtEnd closes a connection when ctx ends, or when the function that it returns is called.
func (r *relay) closeWithContext(conn net.Conn) func() {
	stop := context.AfterFunc(r.ctx, func() { _ = conn.Close() })
	return func() {
		stop()
		_ = conn.Close()
	}
}

// swallow reads and forgets until the other side gives up or the gate opens.
func (r *relay) discardUntilOpen(from net.Conn, opened <-chan struct{}) {
	over := make(chan struct{})
	r.goroutines.Go(func() {
		defer close(over)
		_, _ = io.Copy(io.Discard, from)
	})
	select {
	case <-opened:
	case <-over:
	case <-r.ctx.Done():
	}
	_ = from.Close()
	<-over
}

// dial is patient because the one who is served has been told already that the connection is made. A follower may come
// before its leader listens, and would take the end of the connection for the end of the leader.
func (r *relay) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	var conn net.Conn
	err := poll(ctx, nil, func(ctx context.Context) (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", r.target)
		return err
	})
	return conn, err
}

// pass copies from one connection to the other until one of them ends, and ends both. The end of a connection waits at the
// gate like everything else.
func (r *relay) forward(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, readErr := from.Read(buf)
		r.gate.wait(r.ctx)
		if _, err := to.Write(buf[:n]); err != nil || readErr != nil {
			return
		}
	}
}

// anonymousGreeting passes on the first words of an election connection without the address that they tell. A server calls
// back there if its own id is the higher one, and so would go past the relay. Without an address, in the form that servers
// before 3.5 used, it calls where its own configuration says.
func withoutAddress(to io.Writer, from io.Reader) error {
	const longest = 2048 // as ZooKeeper has it
	var id [8]byte
	if _, err := io.ReadFull(from, id[:]); err != nil {
		return err
	}
	if int64(binary.BigEndian.Uint64(id[:])) < 0 { // a version of the protocol; the id and the address follow
		if _, err := io.ReadFull(from, id[:]); err != nil {
			return err
		}
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(size[:]))
		if n > longest {
			return errors.New("address too long")
		}
		if _, err := io.CopyN(io.Discard, from, n); err != nil {
			return err
		}
	}
	_, err := to.Write(id[:])
	return err
}
