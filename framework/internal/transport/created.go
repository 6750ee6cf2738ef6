package transport

// created is what is known of the creates of one path that have succeeded and were not taken yet.
type created struct {
	czxid int64
	takes int  // to come
	mixed bool // there was more than one at once, and nobody can tell which is whose
}

// noteCreated keeps the zxid of a successful create under the path that the server chose. The zxid in a write's reply
// is that write's own transaction, so it is the node's czxid.
func (l *Link) noteCreated(r reply) {
	c := cursor{b: r.body}
	path := string(c.bytes())
	if c.bad {
		return
	}
	n := l.created[path]
	n.czxid, n.mixed, n.takes = r.zxid, n.takes > 0, n.takes+1
	l.created[path] = n
}

func isCreate(op int32) bool {
	switch op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		return true
	}
	return false
}

// TakeCreated returns the czxid of a node whose create has just succeeded, or 0 if it is not certain: a node of the
// same path may have been created, deleted and created again at once, by several callers. It must be called once after
// every successful create, or the number is kept as long as the session.
func (l *Link) TakeCreated(path string) (czxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.created[path]
	if !n.mixed {
		czxid = n.czxid
	}
	if n.takes--; n.takes <= 0 {
		delete(l.created, path)
	} else {
		l.created[path] = n
	}
	return czxid
}
