package zktest

// The methods here change the tree as an operator with full rights would: by the
// same transactions as requests of clients, watch events included, but without a
// session, and therefore without a request in the log.

// Create creates a persistent node, and its parents where they are missing.
// Errors are Codes, such as [ErrNodeExists]; [ErrConnectionLoss] says that a member
// of an ensemble cannot reach its leader, or that there is none.
func (s *Server) Create(path string, data []byte) error {
	if !validPath(path) {
		return ErrBadArguments
	}
	return s.byHand(func(head *Server) Code { return head.create(path, data) })
}

// byHand does something to the tree of the server that makes the transactions.
func (s *Server) byHand(do func(head *Server) Code) error {
	s.mu.Lock()
	defer s.unlock()
	if !s.writable() {
		return ErrConnectionLoss
	}
	return do(s.head()).err()
}

func (s *Server) create(path string, data []byte) Code {
	if parent := parentOf(path); s.tree.nodes[parent] == nil {
		if code := s.create(parent, nil); code != ok {
			return code
		}
	}
	return s.edit(&createOp{pathOp: pathOp{path}, op: OpCreate, data: data, acl: openACL})
}

// Set replaces the data of a node, whatever its version.
func (s *Server) Set(path string, data []byte) error {
	return s.byHand(func(head *Server) Code {
		return head.edit(&setDataOp{pathOp{path}, data, anyVersion})
	})
}

// Delete deletes a node and everything below it, whoever owns it.
func (s *Server) Delete(path string) error {
	if reserved(path) {
		return ErrBadArguments
	}
	return s.byHand(func(head *Server) Code { return head.deleteBelow(path) })
}

func (s *Server) deleteBelow(path string) Code {
	var paths []string
	s.tree.walk(path, func(path string, _ *node) { paths = append(paths, path) })
	if len(paths) == 0 {
		return ErrNoNode
	}
	for i := len(paths) - 1; i >= 0; i-- { // children before their parents
		if code := s.edit(&deleteOp{pathOp{paths[i]}, anyVersion}); code != ok {
			return code
		}
	}
	return ok
}

// SetSequence sets the number that the next sequential child of parent gets. It
// serves to test what happens at the end of the sequence. There is no wrap: servers
// never lower the number, so that every child after the one with 2147483647 has
// 2147483647 in its name, too. Only the creates of one multi, and creates that are
// under way together, count on from -2147483648. The next one gets 2147483647 again.
//
// A real server may count on whenever it is busy with several creates. Here it is those
// of one connection that have come together. For any other case SetSequence takes
// negative numbers, too.
func (s *Server) SetSequence(parent string, next int32) error {
	return s.byHand(func(head *Server) Code {
		_, code := head.commit(nil, func(tx *txn) Code {
			if tx.tree.nodes[parent] == nil {
				return ErrNoNode
			}
			tx.tree.setCreated(parent, next)
			return ok
		})
		return code
	})
}

func (s *Server) edit(w write) Code {
	_, code := s.commit(nil, func(tx *txn) Code { return w.apply(tx, &encoder{}) })
	return code
}
