package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The methods here change the tree as an operator with full rights would: by
// the same transactions as requests of clients, watch events included, but
// without a session, and therefore without a request in the log.

// Create creates a persistent node, and its parents where they are missing.
// The error is a [Code]. [ErrConnectionLoss] says that a member of an ensemble
// cannot reach its leader, or that there is none.
func (s *Server) Create(path string, data []byte) error {
	if !datatree.ValidPath(path) {
		return wire.ErrBadArguments
	}
	return s.asAdmin(func() wire.Code { return s.createLocked(path, data) })
}

// asAdmin does something to the tree, if transactions can be made.
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

// Set replaces the data of a node, whatever its version.
func (s *Server) Set(path string, data []byte) error {
	return s.asAdmin(func() wire.Code {
		return s.editLocked(&setDataOp{pathOp{path}, data, datatree.AnyVersion})
	})
}

// Delete deletes a node and everything below it, whichever session owns it.
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

// setSequence is SetSequence of package zkinside.
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

// reapContainers is ReapContainers of package zkinside.
func (s *Server) reapContainers() int {
	s.mu.Lock()
	defer s.unlock()
	if !s.writableLocked() {
		return 0
	}
	return s.leaderServerLocked().reaper.reapLocked()
}
