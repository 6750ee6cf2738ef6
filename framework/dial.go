package framework

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Why a session was lost. Both are causes with which its context ends.
var (
	errEndedByServer = fmt.Errorf("%w: the server has ended it", ErrSessionLost)
	errTimeUp        = fmt.Errorf("%w: no answer within its time", ErrSessionLost)
)

// dial is the library's dialer. It runs on the library's own goroutine, which has nothing else to do meanwhile. The
// address that the library has from hosts may be of an older list of servers, and is not used.
func (s *Session) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	<-s.ready
	address, err := s.nextServer()
	if err != nil {
		return nil, err
	}
	s.noteAttempt(address)
	patience := s.patience()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	nc, err := s.client.cfg.connect(ctx, network, address)
	if err != nil {
		s.disconnected(err)
		return nil, err
	}
	return s.link.Wrap(nc, time.Now().Add(patience)), nil
}

// patience is how long an attempt may take. It leaves time for every server, and for asking which there are, within two
// thirds of the session timeout: of the one that was granted, once there is a session to lose.
func (s *Session) patience() time.Duration {
	shares := s.hosts.Len()
	if s.client.ensemble.ask != nil {
		shares++
	}
	timeout := s.Timeout()
	if timeout == 0 {
		timeout = s.client.cfg.sessionTimeout
	}
	return timeout * 2 / 3 / time.Duration(shares)
}

// nextServer returns the address to try now. Between rounds over all servers it pauses, and then asks for the list.
func (s *Session) nextServer() (string, error) {
	roundOver, pause := s.hosts.roundOver()
	if err := s.pause(pause); err != nil {
		return "", err
	}
	if roundOver {
		s.renewServers()
	}
	return s.hosts.take(), nil
}

func (s *Session) renewServers() {
	c := s.client
	ctx, cancel := context.WithTimeout(s.ctx, s.patience())
	defer cancel()
	if err := c.ensemble.refresh(ctx); err != nil && s.ctx.Err() == nil {
		c.cfg.logger.Warn("zookeeper list of servers is not renewed", "cause", err)
	}
	s.hosts.begin(c.ensemble.servers())
}

// pause waits, but not longer than the session lives.
func (s *Session) pause(d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.ctx.Done():
		}
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return nil
}

// noteAttempt notes which server is tried.
func (s *Session) noteAttempt(address string) {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.server = address
}

// connect opens a connection, with TLS if that is configured.
func (c *config) connect(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := c.dial(ctx, network, address)
	if err != nil || c.tls == nil {
		return nc, err
	}
	return handshakeTLS(ctx, nc, address, c.tls)
}
