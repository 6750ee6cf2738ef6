package cache

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
)

// request is what the loop wants to know of a path.
type request struct {
	path  string
	needs needs
	known known
	asked int // the loop's round at that time
}

// known is what the loop knew when it asked.
type known struct {
	node   *Node
	listed int64 // the Pzxid when the children were listed, or -1
}

// result is the answer to a request.
type result struct {
	request

	sync     bool      // the answer to a Sync, and nothing else
	together *together // the answer to a multiRead of hot nodes, and nothing else
	several  []result  // the answers to a multiRead of other nodes, and nothing else but an error
	again    *again    // it is time to read these nodes again, and nothing else
	round    int       // the loop's, when a Sync or a multiRead of hot nodes was sent

	node   *Node // nil if there is none
	listed bool
	names  []string
	pzxid  int64
	err    error
	notOwn bool // the error is none of the node
}

// read reads a node, and lists its children where that is needed.
func (l *loop) read(ctx context.Context, q request) (r result) {
	r.request = q
	if r.node, r.err = l.readNode(ctx, q); r.err != nil || !l.wantsChildren(q, r.node) {
		return r
	}
	return l.list(ctx, r)
}

// readNode reads a node, and its data unless those are known. Data whose ACL has
// changed are read again: older servers let everybody ask whether a node exists,
// and only a read tells whether we still may.
func (l *loop) readNode(ctx context.Context, q request) (*Node, error) {
	if l.c.cfg.noData || q.mayBeUnchanged() {
		there, stat, err := l.c.client.Exists(ctx, q.path)
		if err != nil || !there {
			return nil, err
		}
		n := &Node{Path: q.path, Stat: *stat}
		if l.c.cfg.noData {
			return n, nil
		}
		if same(n, q.known.node) && n.Stat.Aversion == q.known.node.Stat.Aversion {
			n.Data = q.known.node.Data
			return n, nil
		}
	}
	data, stat, err := l.c.client.Get(ctx, q.path)
	if err != nil {
		return nil, noNodeIsNil(err)
	}
	return &Node{Path: q.path, Data: data, Stat: *stat}, nil
}

// mayBeUnchanged reports whether a node is known, and nothing has told of a
// change. Then a smaller request may say that there was none.
func (q request) mayBeUnchanged() bool { return q.known.node != nil && q.needs&needScan != 0 }

// list lists the children of a node that was read.
func (l *loop) list(ctx context.Context, r result) result {
	names, stat, err := l.c.client.Children(ctx, r.path)
	if r.err = noNodeIsNil(err); err != nil {
		r.node = nil
		return r
	}
	r.listed, r.names, r.pzxid = true, names, stat.Pzxid
	return r
}

// wantsChildren reports whether the children of a node that was read are to be
// listed.
func (l *loop) wantsChildren(q request, n *Node) bool {
	switch {
	case n == nil || !l.c.scope.hasChildren(q.path):
		return false
	case q.needs&needList != 0:
		return true
	case q.known.node == nil || q.known.node.Stat.Czxid != n.Stat.Czxid: // some may have been there before the watch
		return n.Stat.NumChildren > 0
	case n.Stat.NumChildren == 0 && q.known.listed < 0:
		return false
	default:
		return q.needs&needScan != 0 && n.Stat.Pzxid != q.known.listed
	}
}

func noNodeIsNil(err error) error {
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
