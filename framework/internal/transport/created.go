package transport

// noteCreated keeps the zxid of a successful create under the path that the server chose. The zxid in a write's reply
// is that write's own transaction, so it is the node's czxid.
func (l *Link) noteCreated(r reply) {
	c := cursor{b: r.body}
	if path := c.bytes(); !c.bad {
		l.created[string(path)] = r.zxid
	}
}

func isCreate(op int32) bool {
	switch op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		return true
	}
	return false
}

// TakeCreated returns the czxid of a node whose create has just succeeded, once. It must be called after every
// successful create, or the number is kept as long as the session.
func (l *Link) TakeCreated(path string) (czxid int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	czxid, ok = l.created[path]
	delete(l.created, path)
	return czxid, ok
}
