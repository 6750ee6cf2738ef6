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
		if sess := s.sessions[session]; sess != nil {
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

// AssertNoNodes fails the test if there is a node below path, or if the path is
// invalid. With "/" it means that nothing was left behind at all.
func (s *Server) AssertNoNodes(tb TB, path string) {
	tb.Helper()
	if !datatree.ValidPath(path) {
		tb.Fatalf("%v", invalidPath(path))
		return // Fatalf of a TB that is not a test may return
	}
	s.mu.Lock()
	nodes := s.belowLocked(path)
	s.mu.Unlock()
	if len(nodes) > 0 {
		tb.Fatalf("zktest: %d nodes left below %s:\n%s", len(nodes), path, s.Dump())
	}
}

// AssertNoWatches fails the test if a client has a watch.
func (s *Server) AssertNoWatches(tb TB) {
	tb.Helper()
	if n := len(s.Watches()); n > 0 {
		tb.Fatalf("zktest: %d watches left:\n%s", n, s.Dump())
	}
}

// AssertNoSessions fails the test if a session is alive.
func (s *Server) AssertNoSessions(tb TB) {
	tb.Helper()
	if n := len(s.Sessions()); n > 0 {
		tb.Fatalf("zktest: %d sessions left:\n%s", n, s.Dump())
	}
}
