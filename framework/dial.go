package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
)

// dial is the library's dialer. dial runs on the library's own goroutine, which has
// nothing else to do meanwhile. dial ignores the library's address, which may come from
// an older list of servers.
//
// When the session is over, the library gets no more connections to servers, because it
// would start another session. It gets a connection on which it shuts down.
func (s *Session) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	<-s.ready
	nc, err := s.dialServer(network)
	if s.ctx.Err() == nil {
		return nc, err
	}
	if err == nil {
		nc.Close()
	}
	select {
	case <-s.lastConn: // for the second time
	default:
		close(s.lastConn)
	}
	nc, stub := net.Pipe()
	s.client.goroutines.Go(func() { transport.ServeShutdown(stub) })
	return nc, nil
}

func (s *Session) dialServer(network string) (net.Conn, error) {
	s.endOrphan()
	address, err := s.nextServer()
	if err != nil {
		return nil, err
	}
	s.noteAttempt(address)
	timeout := s.attemptTimeout()
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	nc, err := s.client.cfg.connect(ctx, network, address)
	if err != nil {
		s.disconnected(err)
		return nil, err
	}
	exchange, err := startSASL(ctx, s.client.cfg.sasl, nc, address)
	if err != nil {
		s.disconnected(err)
		return nil, err
	}
	s.client.now() // so that contact by the handshake counts from after a suspension
	return s.link.Wrap(nc, time.Now().Add(timeout), exchange), nil
}

// attemptTimeout is how long an attempt to connect may take. Attempts at all servers,
// and a refresh of the list of servers, fit into two thirds of the session timeout.
// Once there is a session to lose, the granted timeout counts.
//
// Until then, waiting costs nothing, and a slow ensemble may need more time: the
// timeout doubles with each failed round over the servers. Otherwise every attempt
// might be cut short, and each could leave a session on the servers.
//
// longestAttempt limits the timeout, because WithConnectionTimeout may be unlimited.
func (s *Session) attemptTimeout() time.Duration {
	shares := s.hosts.Len()
	if s.client.serverList.ask != nil {
		shares++
	}
	share := func(timeout time.Duration) time.Duration {
		return min(timeout*2/3/time.Duration(shares), longestAttempt)
	}
	if granted := s.Timeout(); granted != 0 {
		return share(granted)
	}
	cfg := &s.client.cfg
	timeout := share(cfg.sessionTimeout)
	longest := min(max(cfg.sessionTimeout, cfg.connectionTimeout), longestAttempt)
	for range s.hosts.failures() {
		if timeout *= 2; timeout >= longest {
			return longest
		}
	}
	return timeout
}

const longestAttempt = 2 * time.Minute

// nextServer returns the address to try now. Between rounds over all servers it
// pauses, and then asks for the list.
func (s *Session) nextServer() (string, error) {
	roundOver, pause := s.hosts.roundOver()
	if roundOver {
		pause = max(pause, s.refusedRound())
	}
	if err := pauses.Sleep(s.ctx, pause); err != nil {
		return "", err
	}
	if roundOver {
		s.renewServers()
	}
	return s.hosts.take(), nil
}

// refusedRound records whether a round over the servers has ended with a refusal, and
// returns the pause before the next round.
func (s *Session) refusedRound() time.Duration {
	pause, begins := s.noteRound()
	if begins != nil {
		s.client.log(slog.LevelWarn, "zookeeper servers refuse the credentials", slog.Any(semconv.Cause, begins))
	}
	if s.Timeout() != 0 { // there is a session to lose
		return 0
	}
	return pause
}

// noteRound calls roundOver of the client's refusal. If operations must fail from now
// on, it returns the reason.
func (s *Session) noteRound() (pause time.Duration, begins error) {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.isOverLocked() {
		return 0, nil
	}
	return c.refusal.roundOver()
}

func (s *Session) renewServers() {
	c := s.client
	ctx, cancel := context.WithTimeout(s.ctx, s.attemptTimeout())
	defer cancel()
	if err := c.serverList.refresh(ctx); err != nil && s.ctx.Err() == nil {
		c.log(slog.LevelWarn, "zookeeper list of servers is not renewed", slog.Any(semconv.Cause, err))
	}
	s.hosts.begin(c.serverList.servers())
}

// noteAttempt records the server of the attempt.
func (s *Session) noteAttempt(address string) {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if s.isOverLocked() {
		return
	}
	s.server = address
	s.client.attempts.begin(address)
}

// connect opens a connection, with TLS if that is configured. The error comes from user
// code, which may have received it from another client, so it says nothing about this
// client's session or credentials.
func (c *config) connect(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, address)
	if err == nil {
		err = unusable(conn)
	}
	if err == nil && c.tls != nil {
		conn, err = handshakeTLS(ctx, conn, address, c.tls)
	}
	if err != nil {
		return nil, reason.Foreign(err)
	}
	return conn, nil
}

// unusable returns the reason why a connection from a dialer cannot be used. A nil
// connection would crash the process. A connection without deadlines, as through some
// tunnels, would hang for ever at a silent server.
func unusable(nc net.Conn) error {
	if !present(nc) {
		return errors.New("dialer has returned neither a connection nor an error")
	}
	if err := nc.SetReadDeadline(time.Time{}); err != nil {
		nc.Close()
		return fmt.Errorf("dialer has returned a connection that takes no read deadline: %w", err)
	}
	return nil
}

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

// tlsConn closes without TLS's closing alert. The alert could take seconds if the peer
// does not read, and adds nothing to ZooKeeper's own request to end the session.
type tlsConn struct {
	*tls.Conn
	raw net.Conn
}

// Close closes the connection below.
func (c *tlsConn) Close() error { return c.raw.Close() }
