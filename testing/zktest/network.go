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

// Dialer returns a function that connects to this server within the process, for every
// address. The function has the signature of [net.Dialer.DialContext]. For go-zookeeper,
// use [Server.DialTimeout].
func (s *Server) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dial
}

// DialTimeout is [Server.Dialer] with the signature of [net.DialTimeout], for go-zookeeper:
// zk.WithDialer(srv.DialTimeout). It never waits.
func (s *Server) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return s.dial(context.Background(), network, address)
}

func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dialFrom(ctx, nil, network, address)
}

// dialFrom connects a client on a host, which may be nil.
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
			case !errors.Is(err, syscall.EINVAL): // not because of closePort, but for lack of descriptors, for example
				sleep(5*time.Millisecond, nil)
			}
		}
	})
	return nil
}

// listenOn is [net.Listen], but requests a port by its number, even if any port will do. If
// the system chose the port, it would choose another port after [closePort] and [openPort].
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

// updatePortLocked closes or opens the TCP port, according to the state of the server. For a
// server behind a black hole, the port stays open, because clients must not notice the end
// of the server.
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

// Dialer returns a function that connects within the process to the member with the address.
// It refuses addresses without a member. The function has the signature of
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
