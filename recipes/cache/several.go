package cache

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Each request costs a server and both ends of the connection more than the
// node that it reads. So when many nodes wait to be read, several are read with
// one multiRead. To the loop, that is the same as a read of each at the same
// time.
//
// An answer with several nodes should not be much larger than one with a single
// node. So the mean size of the data in an answer decides how many nodes the
// next answers may have. The first ones have the most: no more reads are under
// way than WithConcurrency says, whether in one request or in many.
const (
	mostAtATime    = 32       // nodes of one multiRead
	largeAnswer    = 64 << 10 // bytes of data, which the next answers should not have
	longestPath    = 1 << 10  // bytes; a node with a longer path is read alone
	littleData     = 1 << 10  // bytes, which may be read again for nothing
	partOfAllReads = 4        // the server should have the next request when it answers one
)

// atATime is how many nodes may be read by one request.
func (l *loop) atATime() int {
	if l.noMultiRead || !l.isToldAll() || l.c.cfg.noData {
		return 1
	}
	return max(1, min(l.mayRead, l.c.cfg.pending/partOfAllReads))
}

// hasRead is told how much data an answer had. The next ones have two nodes at
// least, so that there is something to learn from them.
func (l *loop) hasRead(nodes, size int) {
	l.mayRead = min(mostAtATime, max(2, follow.NextReads(l.mayRead, nodes, size, largeAnswer)))
}

// asksFirst reports whether a node is likely not to have changed, and has so
// much data that a smaller request should say so.
func (q request) asksFirst() bool {
	return q.mayBeUnchanged() && q.known.node.Stat.DataLength > littleData
}

// launch begins as many reads as may be under way.
func (l *loop) launch() {
	for len(l.queue) > 0 {
		n := min(l.atATime(), len(l.queue))
		if len(l.inflight)+n > l.c.cfg.pending {
			return
		}
		l.launchNext(n)
	}
}

// launchNext begins to read the next n paths of the queue.
func (l *loop) launchNext(n int) {
	var several []request
	for _, path := range l.queue[:n] {
		if _, busy := l.inflight[path]; busy {
			continue // arrived queues it again
		}
		q := request{path: path, needs: l.batch[path], known: l.tree.nodes[path].copy(), asked: l.round}
		delete(l.batch, path)
		l.inflight[path] = struct{}{}
		if n > 1 && len(path) <= longestPath && !q.asksFirst() {
			several = append(several, q)
			continue
		}
		source := l.source
		l.inBackground(func() { l.deliver(source.read(l.ctx, l, q)) })
	}
	l.queue = l.queue[n:]
	if len(several) > 0 {
		l.inBackground(func() { l.readSeveral(several) })
	}
}

// readSeveral reads nodes with one request, and then lists the children where
// that is needed.
func (l *loop) readSeveral(all []request) {
	paths := make([]string, len(all))
	for i, q := range all {
		paths[i] = q.path
	}
	nodes, _, err := framework.Extend(l.c.client).MultiRead(l.ctx, paths...)
	read := result{several: make([]result, 0, len(all)), err: err}
	for i, q := range all {
		r := result{request: q}
		switch {
		case err != nil:
		case nodes[i].Err == nil:
			r.node = &Node{Path: q.path, Data: nodes[i].Data, Stat: *nodes[i].Stat}
		case !reason.Is(nodes[i].Err, zk.ErrNoNode):
			r.err = &framework.OpError{Op: "get", Path: q.path, Err: nodes[i].Err}
		}
		if !l.wantsChildren(q, r.node) {
			read.several = append(read.several, r)
			continue
		}
		l.inBackground(func() { l.deliver(l.list(l.ctx, r)) })
	}
	l.deliver(read)
}

// severalArrived takes the results of one multiRead.
func (l *loop) severalArrived(read result) {
	refused := false
	switch err := read.err; {
	case err == nil, isNoAnswer(err), reason.Is(err, zk.ErrAuthFailed), l.ctx.Err() != nil:
	default:
		refused = true // this is no refusal of the nodes
		l.cannotReadTogether(err)
	}
	size := 0
	for _, r := range read.several {
		if read.err != nil {
			r.err, r.notOwn = read.err, refused
		}
		if r.node != nil {
			size += len(r.node.Data)
		}
		l.arrived(r)
	}
	if size > 0 {
		l.hasRead(len(read.several), size)
	}
}

// cannotReadTogether notes that a server has refused a multiRead.
func (l *loop) cannotReadTogether(err error) {
	if l.noMultiRead {
		return
	}
	l.noMultiRead = true
	l.c.events.Emit(eventNoMultiRead, err)
}
