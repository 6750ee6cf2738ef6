package zktest

import "github.com/gocurator/curator/testing/zktest/internal/datatree"

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
