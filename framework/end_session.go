package framework

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/reason"
)

const (
	// closeTimeout is how long Close tries to end the session on the server.
	closeTimeout = time.Second

	// closeRequestTimeout is the longest time that one server may take to answer. The
	// connection may already be dead.
	closeRequestTimeout = closeTimeout / 2

	// minEndTimeout is the shortest time that one server has to end a session before
	// the next one is asked.
	minEndTimeout = 200 * time.Millisecond
)

// close returns when no part of the session is left in this process. If the client
// gives up the session by itself, close ends the session at a server, if one can be
// reached. A lost session is left to the servers: its holders have only just been asked
// to stop, and have the rest of the timeout for that.
func (s *Session) close() {
	if s.closing.Swap(true) { // no sync.Once, which would hold a mutex across I/O
		<-s.gone
		return
	}
	<-s.ready
	s.watches.End()
	if !reason.Is(context.Cause(s.ctx), ErrSessionLost) {
		s.endOnServer()
	}
	s.link.Close()
	<-s.lastConn
	s.conn.Close()
	for range s.drain { // the library closes the channel at its very end
	}
	close(s.gone)
}

// endOnServer ends the session at a server: on the present connection or, if there is
// none or it is silent, on a separate connection. Otherwise the session would keep its
// nodes, and so block locks, for the whole timeout, for example in a rolling restart,
// when clients are closed while they have no connection.
//
// If some nodes must stay, endOnServer deletes the other nodes and leaves the session
// to the server. A holder whose work was just ended by an interruption may be calling
// KeepUntil at this moment.
func (s *Session) endOnServer() {
	s.afterFuncs.Wait()
	kept := s.kept.now()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if len(kept) == 0 && s.requestEnd() {
		s.ended.Store(true)
		return
	}
	s.link.Close() // a handshake under way would resume the session meanwhile
	if who := s.link.Identity(); who.ID != 0 {
		s.endSomewhere(ctx, who, kept)
	}
}

// requestEnd asks for the end of the session on the present connection, and reports
// whether the server has confirmed the end.
func (s *Session) requestEnd() bool {
	call := s.link.CloseSession()
	if call == nil {
		return false
	}
	silence := time.NewTimer(closeRequestTimeout)
	defer silence.Stop()
	select {
	case <-call.Done():
		code, _, _, err := call.Answer()
		return err == nil && code == proto.CodeOK
	case <-silence.C:
		return false
	}
}

// endSomewhere asks one server after the other to end the session, until one succeeds
// or ctx ends. If some nodes are kept, endSomewhere deletes all others instead, and the
// session stays.
func (s *Session) endSomewhere(ctx context.Context, who transport.Identity, kept map[string]bool) {
	for ctx.Err() == nil {
		for left := s.hosts.Len(); left > 0 && ctx.Err() == nil; left-- {
			deadline, _ := ctx.Deadline()
			share := min(max(time.Until(deadline)/time.Duration(left), minEndTimeout), closeRequestTimeout)
			e := transport.EndSessionOptions{
				Identity: who, Credentials: s.client.credentials(),
				IOTimeout: share, Stay: len(kept) > 0, Keep: kept,
			}
			if s.client.endAt(ctx, s.hosts.take(), s.client.cfg.sasl, e) == nil {
				s.ended.Store(!e.Stay)
				return
			}
		}
		select { // the servers may be about to start
		case <-time.After(shortestRoundPause):
		case <-ctx.Done():
		}
	}
}

// endAt ends a session at one server. Unless m is nil, m authenticates the client.
func (c *Client) endAt(ctx context.Context, address string, m sasl.Mechanism, e transport.EndSessionOptions) error {
	dialing, cancel := context.WithTimeout(ctx, e.IOTimeout)
	defer cancel()
	nc, err := c.cfg.connect(dialing, "tcp", address)
	if err != nil {
		return err
	}
	if e.SASL, err = startSASL(dialing, m, nc, address); err != nil {
		return err
	}
	return transport.EndSession(ctx, nc, e)
}

// endOrphan ends a session that the last attempt to connect has left at its server: the
// session was granted, but the connection ended before the handshake was over, for
// example because credentials were refused. endOrphan does not use SASL, which would be
// refused again; a server that requires authentication of every request keeps the
// session for its timeout.
func (s *Session) endOrphan() {
	who, ok := s.link.OrphanedSession()
	if !ok {
		return
	}
	timeout := min(s.attemptTimeout(), closeTimeout)
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	s.client.endAt(ctx, s.address(), nil, transport.EndSessionOptions{Identity: who, IOTimeout: timeout})
	if s.ctx.Err() == nil { // otherwise close may still have to end the orphan
		s.link.ForgetSession()
	}
}
