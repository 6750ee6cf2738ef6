package framework

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// handshakeTLS puts TLS on a connection, or closes it.
func handshakeTLS(ctx context.Context, nc net.Conn, address string, cfg *tls.Config) (net.Conn, error) {
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			nc.Close()
			return nil, err
		}
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	conn := tls.Client(nc, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("tls handshake with %s: %w", address, err)
	}
	return &tlsConn{conn, nc}, nil
}

// tlsConn is closed without TLS's closing alert. The alert could take seconds
// if the peer does not read, and adds nothing to ZooKeeper's own request to end
// the session.
type tlsConn struct {
	*tls.Conn
	raw net.Conn
}

// Close closes the connection below.
func (c *tlsConn) Close() error { return c.raw.Close() }
