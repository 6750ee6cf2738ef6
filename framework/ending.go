package framework

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

const (
	// closePatience is how long Close tries to end the session on the server.
	closePatience = time.Second

	// leavePatience is the part of it for which a connection may be silent. It
	// may be dead already.
	leavePatience = closePatience / 2

	// shortestEnding is how long one server may take at least to end a session,
	// before the next one is asked.
	shortestEnding = 200 * time.Millisecond
)

// close returns when nothing of the session is left in this process. A session that the client gives up by itself is
// ended on the server, if one can be reached. One that was lost is left to the server: its holders have only just been
// told to stop, and what is left of the timeout is the time they have for that.
func (s *Session) close() {
	if s.closing.Swap(true) { // no sync.Once: others would wait on a mutex that is held across I/O
		<-s.gone
		return
	}
	<-s.ready
	s.watches.end()
	if !errors.Is(context.Cause(s.ctx), ErrSessionLost) {
		s.endOnServer()
	}
	s.link.Close()
	<-s.leaving
	s.conn.Close()
	for range s.drain { // closed by the library as the last thing it does
	}
	close(s.gone)
}

// endOnServer ends the session on the server: on the present connection, or if
// there is none, or it is silent, on one of its own. A session that stays would
// keep its nodes, and with them others' locks, for its whole timeout; it is on a
// rolling restart that clients are closed while they have no connection.
func (s *Session) endOnServer() {
	patience, atOnce := closePatience, true
	if len(s.ephemerals.excess()) > 0 {
		patience, atOnce = max(patience, s.Timeout()), false // after that, the server ends the session
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if atOnce && s.leave() {
		return
	}
	s.link.Close() // a handshake under way would take the session up again behind our back
	if who := s.link.Identity(); who.ID != 0 {
		s.endSomewhere(ctx, who)
	}
}

// leave asks for the end of the session on the present connection and reports
// whether the server has said that it is over.
func (s *Session) leave() bool {
	call := s.link.Leave()
	if call == nil {
		return false
	}
	silence := time.NewTimer(leavePatience)
	defer silence.Stop()
	select {
	case <-call.Done():
		code, _, _, err := call.Answer()
		return code == 0 && err == nil
	case <-silence.C:
		return false
	}
}

// endSomewhere asks one server after the other to end the session, until one
// has done it or ctx ends. Nodes that are too many for one transaction are
// deleted before.
func (s *Session) endSomewhere(ctx context.Context, who transport.Identity) {
	for ctx.Err() == nil {
		for left := s.hosts.Len(); left > 0 && ctx.Err() == nil; left-- {
			deadline, _ := ctx.Deadline()
			share := min(max(time.Until(deadline)/time.Duration(left), shortestEnding), leavePatience)
			e := transport.Ending{Identity: who, Patience: share}
			if e.Delete = s.ephemerals.excess(); len(e.Delete) > 0 {
				e.Patience = closePatience
				e.Credentials, e.Deleted = s.client.credentials(), s.nodeGone
			}
			if s.client.endAt(ctx, s.hosts.take(), e) == nil {
				return
			}
		}
		select { // they may be about to start
		case <-time.After(shortestRoundPause):
		case <-ctx.Done():
		}
	}
}

// endAt ends a session at one server.
func (c *Client) endAt(ctx context.Context, address string, e transport.Ending) error {
	dialing, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	nc, err := c.cfg.connect(dialing, "tcp", address)
	if err != nil {
		return err
	}
	return transport.EndSession(ctx, nc, e)
}

// endOrphan ends a session that the last attempt to connect has left on its
// server: granted, but not usable, because the connection ended before its
// handshake was over. That is so whenever credentials are refused.
func (s *Session) endOrphan() {
	who, ok := s.link.Orphan()
	if !ok {
		return
	}
	patience := min(s.patience(), closePatience)
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	s.client.endAt(ctx, s.address(), transport.Ending{Identity: who, Patience: patience})
	if s.ctx.Err() == nil { // else close goes on
		s.link.Forget()
	}
}
