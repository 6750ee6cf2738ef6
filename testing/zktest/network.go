package zktest

import (
	"context"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// memoryAddr returns the address of a server without a port: number 0 is a
// standalone server, the others are members of an ensemble. It is an IP literal
// because clients look host names up. No process listens on ports like these: a
// client that forgets the dialer is refused, and does not come to a real server
// on the developer's machine.
func memoryAddr(number int) string {
	const firstPort = 1
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+number))
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

// Dialer returns a function that connects to this server within the process,
// whatever the address. The signature is that of [net.Dialer.DialContext].
func (s *Server) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dial
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
		return nil, memnet.DialError(network, address, syscall.ECONNREFUSED)
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
			s.start(nc, nil)
		}
	})
	return nil
}
