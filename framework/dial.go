package framework

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/semconv"
)

// Why a session was lost. Both are causes with which its context ends.
var (
	errEndedByServer = fmt.Errorf("%w: the server has ended it", ErrSessionLost)
	errTimeUp        = fmt.Errorf("%w: no answer within its time", ErrSessionLost)
)

// dial is the library's dialer. It runs on the library's own goroutine, which has nothing else to do meanwhile. The
// address that the library has from hosts may be of an older list of servers, and is not used.
//
// When the session is over, the library gets no connection to a server any more, lest it start another session, but one
// on which it can come to its end.
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
	case <-s.leaving: // for the second time
	default:
		close(s.leaving)
	}
	return transport.ShutdownConn(), nil
}

func (s *Session) dialServer(network string) (net.Conn, error) {
	s.endOrphan()
	address, err := s.nextServer()
	if err != nil {
		return nil, err
	}
	s.noteAttempt(address)
	s.noticeSuspension() // before the handshake, which is contact after it
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
//
// Until then there is all the time in the world, and a slow ensemble may need more: with each round over the servers that
// has failed, the patience doubles. Otherwise no attempt might ever come to its end, and each of them may leave a session
// on the servers.
func (s *Session) patience() time.Duration {
	shares := s.hosts.Len()
	if s.client.ensemble.ask != nil {
		shares++
	}
	share := func(timeout time.Duration) time.Duration { return timeout * 2 / 3 / time.Duration(shares) }
	if granted := s.Timeout(); granted != 0 {
		return share(granted)
	}
	cfg := &s.client.cfg
	patience, longest := share(cfg.sessionTimeout), max(cfg.sessionTimeout, cfg.connectionTimeout)
	for range s.hosts.failures() {
		if patience *= 2; patience >= longest {
			return longest
		}
	}
	return patience
}

// nextServer returns the address to try now. Between rounds over all servers it pauses, and then asks for the list.
func (s *Session) nextServer() (string, error) {
	roundOver, pause := s.hosts.roundOver()
	if roundOver {
		pause = max(pause, s.refusedRound())
	}
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
		c.cfg.logger.Warn("zookeeper list of servers is not renewed", slog.Any(semconv.Cause, err))
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
