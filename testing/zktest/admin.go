package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The methods in this file change the tree like an operator with all rights. They make the
// same transactions as clients' requests, with watch events, but without a session, and so
// without a request in the log.

// Create creates a persistent node and its missing parents. The error is a [Code]. A member
// of an ensemble returns [ErrConnectionLoss] if there is no leader that it can reach.
func (s *Server) Create(path string, data []byte) error {
	if !datatree.ValidPath(path) {
		return wire.ErrBadArguments
	}
	return s.asAdmin(func() wire.Code { return s.createLocked(path, data) })
}

// asAdmin runs a function that changes the tree, if the server can make transactions.
func (s *Server) asAdmin(do func() wire.Code) error {
	s.mu.Lock()
	defer s.unlock()
	if !s.writableLocked() {
		return wire.ErrConnectionLoss
	}
	return do().Err()
}

func (c *cluster) createLocked(path string, data []byte) wire.Code {
	tree, _ := c.leaderServerLocked().madeLocked()
	if parent := datatree.ParentOf(path); tree.Node(parent) == nil {
		if code := c.createLocked(parent, nil); code != wire.OK {
			return code
		}
	}
	return c.editLocked(&createOp{wire.CreateRequest{Op: wire.OpCreate, Path: path, Data: data, ACL: datatree.OpenACL}})
}

// Set replaces the data of a node of any version.
func (s *Server) Set(path string, data []byte) error {
	return s.asAdmin(func() wire.Code {
		return s.editLocked(&setDataOp{pathOp{path}, data, datatree.AnyVersion})
	})
}

// Delete deletes a node of any owner, and everything below the node.
func (s *Server) Delete(path string) error {
	if datatree.Reserved(path) {
		return wire.ErrBadArguments
	}
	return s.asAdmin(func() wire.Code { return s.deleteBelowLocked(path) })
}

func (c *cluster) deleteBelowLocked(path string) wire.Code {
	var paths []string
	tree, _ := c.leaderServerLocked().madeLocked()
	tree.Walk(path, func(path string, _ *datatree.Node) { paths = append(paths, path) })
	if len(paths) == 0 {
		return wire.ErrNoNode
	}
	for i := len(paths) - 1; i >= 0; i-- { // children before their parents
		if code := c.editLocked(&deleteOp{pathOp{paths[i]}, datatree.AnyVersion}); code != wire.OK {
			return code
		}
	}
	return wire.OK
}

// setSequence implements SetSequence of package zkinside.
func (s *Server) setSequence(parent string, next int32) error {
	return s.asAdmin(func() wire.Code {
		_, code := s.commitLocked(nil, func(tx *datatree.Txn) wire.Code {
			return tx.SetNextSequence(parent, next)
		})
		return code
	})
}

func (c *cluster) editLocked(w write) wire.Code {
	_, code := c.commitLocked(nil, func(tx *datatree.Txn) wire.Code { return w.apply(tx, &wire.Encoder{}) })
	return code
}

// reapContainers implements ReapContainers of package zkinside.
func (s *Server) reapContainers() int {
	s.mu.Lock()
	defer s.unlock()
	if !s.writableLocked() {
		return 0
	}
	return s.leaderServerLocked().reaper.reapLocked()
}
