package zktest

import (
	"context"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
)

// WaitFor waits until cond is true, and returns nil; or until ctx ends, and
// returns its error; or until the server is closed, and returns
// [ErrClosed]. It calls cond now and after each change of the server's
// state, not in between: a cond about anything else may be noticed late.
// Several changes in quick succession may be seen as one, so a state that
// passes at once may be missed. cond may use the server's methods.
func (s *Server) WaitFor(ctx context.Context, cond func() bool) error {
	return s.waitFor(ctx, cond, &s.closed)
}

// WaitFor is [Server.WaitFor] for the whole ensemble.
func (e *Ensemble) WaitFor(ctx context.Context, cond func() bool) error {
	return e.waitFor(ctx, cond, &e.closing)
}

func (c *cluster) waitFor(ctx context.Context, cond func() bool, closed *bool) error {
	if cond == nil {
		return c.misuse("a nil condition")
	}
	for {
		c.mu.Lock()
		changed, over := c.nextChangeLocked(), *closed
		c.mu.Unlock()
		if cond() {
			return nil
		}
		if over {
			return ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WaitChildren waits until the node at path has exactly n children; a node that
// does not exist has none. It ends as [Server.WaitFor] does. An invalid path
// and a negative n are refused as by [Server.Node].
func (s *Server) WaitChildren(ctx context.Context, path string, n int) error {
	switch {
	case !datatree.ValidPath(path):
		return s.invalidPath(path)
	case n < 0:
		return s.misuse("a wait for %d children", n)
	}
	return s.WaitFor(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if node := s.tree.Node(path); node != nil {
			return len(node.Children) == n
		}
		return n == 0
	})
}

// WaitWatches waits until the session, or with 0 all sessions together, have
// exactly n watches. It ends as [Server.WaitFor] does. A negative n fails the
// test of the server, and is an error for a server of [Run].
func (s *Server) WaitWatches(ctx context.Context, session int64, n int) error {
	if n < 0 {
		return s.misuse("a wait for %d watches", n)
	}
	return s.WaitFor(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if session == 0 {
			return s.watches.Len() == n
		}
		total := 0
		if sess := s.sessionLocked(session); sess != nil {
			for _, c := range s.connsOfLocked(sess) {
				total += s.watches.CountOf(c)
			}
		}
		return total == n
	})
}

// WaitAgreement waits until every member is connected to the leader and has
// applied all there is. It ends as [Server.WaitFor] does.
func (e *Ensemble) WaitAgreement(ctx context.Context) error {
	return e.WaitFor(ctx, e.agree)
}

func (e *Ensemble) agree() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.members {
		if !m.canCommitLocked() || m.zxid != e.leader.madeZxidLocked() {
			return false
		}
	}
	return true
}

// WaitIdle waits until nothing is under way: every request has been carried out
// and answered, everything that was to be sent has been sent, and clients in
// the same process have read it all and wait for more. The server does not know
// what clients are about to send, nor over TCP what is on its way. Dead
// connections do not count. It ends as [Server.WaitFor] does. In a bubble,
// synctest.Wait says more.
func (s *Server) WaitIdle(ctx context.Context) error { return s.waitIdle(ctx, &s.closed, s) }

// WaitIdle is [Server.WaitIdle] for all members. A member that has something to
// apply is not idle.
func (e *Ensemble) WaitIdle(ctx context.Context) error {
	return e.waitIdle(ctx, &e.closing, e.servers()...)
}

func (c *cluster) waitIdle(ctx context.Context, closed *bool, servers ...*Server) error {
	c.idle.waiting.Add(1)
	defer c.idle.waiting.Add(-1)
	for {
		rested := c.idle.next()
		c.mu.Lock()
		changed, over, idle := c.nextChangeLocked(), *closed, true
		for _, s := range servers {
			idle = idle && s.idleLocked()
		}
		c.mu.Unlock()
		switch {
		case idle:
			return nil
		case over:
			return ErrClosed
		}
		select {
		case <-rested:
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// idleLocked reports whether nothing is under way.
func (s *Server) idleLocked() bool {
	if s.member != nil && s.member.received > 0 {
		return false
	}
	for c := range s.conns {
		if !c.halfOpenLocked() && !c.idle() {
			return false
		}
	}
	return true
}

// WaitLeader waits until a member leads with a majority, and returns it.
// It ends as [Server.WaitFor] does.
func (e *Ensemble) WaitLeader(ctx context.Context) (*Member, error) {
	var leader *Member
	err := e.WaitFor(ctx, func() bool {
		leader = e.Leader()
		return leader != nil
	})
	return leader, err
}
