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

// gate lets the data of one link pass while it is open.
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

// status reports whether the gate is shut. It also returns a channel that is
// closed at the next change.
func (g *gate) status() (shut bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut, g.changed
}

// wait waits until the gate is open or ctx ends.
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

// handshakeFunc forwards the first bytes of a connection, and may change them.
type handshakeFunc func(to io.Writer, from io.Reader) error

// relay forwards the connections that one server makes to a port of another.
type relay struct {
	ctx        context.Context // everything is closed when it ends
	goroutines *sync.WaitGroup // every goroutine that the relay has started
	gate       *gate
	target     string
	handshake  handshakeFunc // may be nil
}

// startRelay starts a relay and returns the port that it listens on.
func startRelay(
	ctx context.Context, goroutines *sync.WaitGroup, g *gate, target string, handshake handshakeFunc,
) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	r := &relay{ctx: ctx, goroutines: goroutines, gate: g, target: target, handshake: handshake}
	goroutines.Go(func() { r.accept(listener) })
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (r *relay) accept(listener net.Listener) {
	stop := context.AfterFunc(r.ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil { // the listener is closed
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

// closeWithContext closes a connection when the relay's context ends, or when
// the returned function is called.
func (r *relay) closeWithContext(conn net.Conn) func() {
	stop := context.AfterFunc(r.ctx, func() { _ = conn.Close() })
	return func() {
		stop()
		_ = conn.Close()
	}
}

// discardUntilOpen discards all data until the other side closes the connection
// or the gate opens.
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

// dial retries for a second, because the server that connected to the relay
// believes that it is connected to its peer. A follower may connect before its
// leader listens. If the relay closed that connection at once, the follower
// would conclude that the leader has failed.
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

// forward copies data from one connection to the other until one of them ends,
// and then closes both. The end of a connection waits at the gate like all
// data.
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

// withoutAddress forwards the first bytes of an election connection without the
// sender's address. A server with a higher id calls back at that address, and
// would bypass the relay. Without an address, which is the format of servers
// before 3.5, the server calls back at the address in its own configuration.
func withoutAddress(to io.Writer, from io.Reader) error {
	const longest = 2048 // ZooKeeper's own limit
	var id [8]byte
	if _, err := io.ReadFull(from, id[:]); err != nil {
		return err
	}
	// A protocol version, which is negative; the id and the address follow.
	if int64(binary.BigEndian.Uint64(id[:])) < 0 {
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
