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

	// closeRequestTimeout is how long one server may take at most to answer.
	// The connection may be dead already.
	closeRequestTimeout = closeTimeout / 2

	// minEndTimeout is how long one server may take at least to end a session,
	// before the next one is asked.
	minEndTimeout = 200 * time.Millisecond
)

// close returns when nothing of the session is left in this process. A session
// that the client gives up by itself is ended on the server, if one can be
// reached. A session that was lost is left to the server: its holders have only
// just been told to stop, and the rest of the timeout is the time they have for
// that.
func (s *Session) close() {
	if s.closing.Swap(true) { // no sync.Once: others would wait on a mutex that is held across I/O
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
	for range s.drain { // closed by the library as the last thing it does
	}
	close(s.gone)
}

// endOnServer ends the session on the server: on the present connection, or if
// there is none, or it is silent, on one of its own. A session that stays would
// keep its nodes, and with them others' locks, for its whole timeout. That
// happens in a rolling restart, in which clients are closed while they have no
// connection.
//
// If some nodes are to stay, it deletes the others instead, and leaves the
// session to the server. Whoever learns that an interruption has ended its work, and
// says then which nodes stay, may be saying so just now.
func (s *Session) endOnServer() {
	s.afterFuncs.Wait()
	kept := s.kept.now()
	timeout := closeTimeout
	if len(kept) > 0 {
		timeout = s.timeToDelete(s.ephemerals.count() - len(kept))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if len(kept) == 0 && s.requestEnd() {
		s.ended.Store(true)
		return
	}
	s.link.Close() // a handshake under way would take the session up again meanwhile
	if who := s.link.Identity(); who.ID != 0 {
		s.endSomewhere(ctx, who, kept)
	}
}

// timeToDelete returns how long Close may take to delete nodes one by one. Later
// than the session timeout, the server ends the session by itself.
func (s *Session) timeToDelete(nodes int) time.Duration {
	const perTimeout = 1000 // a server that answers after 45 ms has time for that many
	return max(closeTimeout, min(closeTimeout*time.Duration(1+nodes/perTimeout), s.Timeout()))
}

// requestEnd asks for the end of the session on the present connection and
// reports whether the server has said that it is over.
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

// endSomewhere asks one server after the other to end the session, until one
// has done it or ctx ends. If some nodes are kept, all others are deleted, and the
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
			if e.Stay && s.ephemerals.count() > len(kept) {
				e.IOTimeout = closeTimeout
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

// endAt ends a session at one server, which m authenticates the client to unless m is
// nil.
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

// endOrphan ends a session that the last attempt to connect has left on its
// server: granted, but not usable, because the connection ended before its
// handshake was over. That is so whenever credentials are refused. It does without
// SASL, which would be refused again. A server that requires authentication of every
// request keeps the session for its timeout.
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
