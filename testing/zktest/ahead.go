package zktest

import "github.com/gocurator/curator/testing/zktest/internal/datatree"

// lead is what a leader that lags has made. The followers have it, and the
// leader's own tree has what it has applied of it.
type lead struct {
	tree *datatree.Tree
	zxid int64
}

// madeLocked returns the tree in which the server makes transactions, and the
// last of them. For all but a leader that lags, that is what it has applied.
func (s *Server) madeLocked() (tree *datatree.Tree, zxid int64) {
	if s.ahead != nil {
		return s.ahead.tree, s.ahead.zxid
	}
	return s.tree, s.zxid
}

func (s *Server) madeZxidLocked() int64 {
	_, zxid := s.madeLocked()
	return zxid
}

// getAheadLocked lets a leader that lags make transactions before it applies
// them.
func (s *Server) getAheadLocked() {
	if s.member == nil || s.member.lag == 0 || s.ahead != nil {
		return
	}
	s.ahead = &lead{s.tree.Clone(), s.zxid}
	s.overflow = nil // it is about the nodes of the other tree
}

// endAheadLocked is for a leader that has applied all that it has made.
func (s *Server) endAheadLocked() {
	if s.ahead != nil {
		s.ahead, s.overflow = nil, nil
	}
}
