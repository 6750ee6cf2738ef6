package zktest

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// Dialer returns a function that connects to this server within the process,
// whatever the address. It has the signature of [net.Dialer.DialContext]. For
// go-zookeeper, see [Server.DialTimeout].
func (s *Server) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dial
}

// DialTimeout is [Server.Dialer] in the shape of [net.DialTimeout], which is a dialer
// of go-zookeeper: zk.WithDialer(srv.DialTimeout). It waits for nothing.
func (s *Server) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return s.dial(context.Background(), network, address)
}

func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dialFrom(ctx, nil, network, address)
}

// dialFrom connects a client on that host, nil for none.
func (s *Server) dialFrom(ctx context.Context, h *Host, network, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := memnet.Pipe(address)
	if !s.start(server, h) {
		s.dialers.note(ctx, nil)
		return nil, memnet.DialError(network, address, syscall.ECONNREFUSED)
	}
	s.dialers.note(ctx, client)
	return client, nil
}

func (s *Server) listen(addr string) error {
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	l, err := listenOn(addr)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return l.Close()
	}
	s.listener, s.accepting = l, true
	s.updatePortLocked()
	s.wg.Go(func() {
		for {
			nc, err := l.Accept()
			switch {
			case err == nil:
				s.start(nc, nil)
			case !s.awaitAccepting():
				return
			case !errors.Is(err, syscall.EINVAL): // not by closePort, but out of descriptors, for example
				sleep(5*time.Millisecond, nil)
			}
		}
	})
	return nil
}

// listenOn is [net.Listen] with a port that is asked for by its number, also if
// any port will do. One that the system has chosen would be another one after
// [closePort] and [openPort].
func listenOn(addr string) (l net.Listener, err error) {
	for range 10 { // another program may take the port in between
		if l, err = net.Listen("tcp", addr); err != nil {
			return nil, err
		}
		if chosen := l.Addr().String(); chosen != addr {
			_ = l.Close()
			l, err = net.Listen("tcp", chosen)
		}
		if err == nil {
			return l, nil
		}
	}
	return nil, err
}

// awaitAccepting waits until the port is open. It returns false when the server
// is closed.
func (s *Server) awaitAccepting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.accepting && !s.closed {
		changed := s.nextChangeLocked()
		s.mu.Unlock()
		<-changed
		s.mu.Lock()
	}
	return !s.closed
}

// updatePortLocked closes the TCP port, or opens it again, as the state of the
// server has it. A client that dials a server behind a black hole does not learn that
// the port is closed.
func (s *Server) updatePortLocked() {
	accepting := !s.stopped && !s.refusing || s.blackHole
	if s.listener == nil || accepting == s.accepting {
		return
	}
	if accepting {
		openPort(s.listener)
	} else {
		closePort(s.listener)
	}
	s.accepting = accepting
}

// Dialer returns a function that connects within the process to the member with
// the address, and refuses addresses of no member. It has the signature of
// [net.Dialer.DialContext].
func (e *Ensemble) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return e.dial
}

func (e *Ensemble) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s := e.serverAt(address)
	if s == nil {
		return nil, memnet.DialError(network, address, syscall.ECONNREFUSED)
	}
	return s.dial(ctx, network, address)
}
