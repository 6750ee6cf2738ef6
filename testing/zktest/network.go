package zktest

import (
	"context"
	"net"
	"strings"
	"syscall"
	"time"
)

// memoryAddr is the address of a server without a port. It is an IP literal
// because clients look host names up.
const memoryAddr = "127.0.0.1:2181"

// Addr returns the TCP address of a server with [WithTCP]. Without it, it is a
// made-up address that only [Server.Dialer] and [Server.DialTimeout] understand.
func (s *Server) Addr() string {
	if s.listener != nil {
		return s.listener.Addr().String()
	}
	return s.address
}

// Dialer returns a function that connects to this server within the process,
// whatever the address. The signature is that of [net.Dialer.DialContext].
func (s *Server) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dial
}

// DialTimeout is [Server.Dialer] in the form that go-zookeeper's WithDialer takes.
func (s *Server) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return s.dial(context.Background(), network, address)
}

func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := newPipe(address)
	if !s.start(server) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: memAddr(address), Err: syscall.ECONNREFUSED}
	}
	return client, nil
}

func (s *Server) listen(addr string) error {
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.listener = l
	s.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return // closed by Close
			}
			s.start(nc)
		}
	})
	return nil
}
