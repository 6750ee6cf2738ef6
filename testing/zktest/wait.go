package zktest

import (
	"context"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
)

// WaitFor waits until the condition is true, and then returns nil. If ctx ends first, WaitFor
// returns the error of ctx. If the server is closed first, the error matches [net.ErrClosed].
//
// WaitFor calls cond at once and after each change of the server's state. It may notice other
// changes late, and may miss a state that the next change replaces at once. The function cond
// may use the server's methods.
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
			return errClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WaitChildren waits until the node at a path has exactly n children. A missing node has none.
// WaitChildren returns the errors of [Server.WaitFor], and refuses an invalid path and a
// negative n.
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

// waitAgreement implements AwaitAgreement of package zkinside.
func (e *Ensemble) waitAgreement(ctx context.Context) error {
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
