package cache

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
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

	sync  bool // the answer to a Sync, and nothing else
	round int  // of that

	node   *Node // nil if there is none
	listed bool
	names  []string
	pzxid  int64
	err    error

	data, list *framework.Watch // of a standardSource
}

func (r result) stop() {
	for _, w := range []*framework.Watch{r.data, r.list} {
		if w != nil {
			w.Stop()
		}
	}
}

// readNode reads a node, and its data unless those are known.
func (l *loop) readNode(ctx context.Context, q request) (*Node, error) {
	if l.c.cfg.noData || q.known.node != nil && q.needs&needScan != 0 {
		there, stat, err := l.c.client.Exists(ctx, q.path)
		if err != nil || !there {
			return nil, err
		}
		n := &Node{Path: q.path, Stat: *stat}
		if l.c.cfg.noData {
			return n, nil
		}
		if same(n, q.known.node) {
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
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
