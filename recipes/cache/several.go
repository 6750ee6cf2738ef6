package cache

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
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
	leastAtATime   = 2        // fewer tell nothing about how many the next one may have
	largeAnswer    = 64 << 10 // bytes of data, which the next answers should not have
	longestPath    = 1 << 10  // bytes; a node with a longer path is read alone
	littleData     = 1 << 10  // bytes, which may be read again for nothing
	partOfAllReads = 4        // the server should have the next request when it answers one
)

// atATime is how many nodes may be read by one request.
func (l *loop) atATime() int {
	if !l.readsTogether() {
		return 1
	}
	return max(1, min(l.mayRead, l.c.cfg.pending/partOfAllReads))
}

// readsTogether reports whether several nodes may be read by one request.
func (l *loop) readsTogether() bool { return !l.noMultiRead }

// hasRead is told how much data an answer had.
func (l *loop) hasRead(nodes, size int) {
	l.mayRead = min(mostAtATime, max(leastAtATime, follow.NextReads(l.mayRead, nodes, size, largeAnswer)))
}

// asksForStat reports whether a node is known to have much data that may not be
// needed: it is likely not to have changed, or the cache keeps no data. A smaller
// request tells then.
func (l *loop) asksForStat(q request) bool {
	return (q.mayBeUnchanged() || l.c.cfg.noData && q.known.node != nil) && q.known.node.Stat.DataLength > littleData
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
		if n > 1 && len(path) <= longestPath && !l.asksForStat(q) {
			several = append(several, q)
			continue
		}
		l.inBackground(func() { l.deliver(l.read(l.ctx, q)) })
	}
	l.queue = l.queue[n:]
	if len(several) > 0 {
		l.inBackground(func() { l.readSeveral(several) })
	}
}

// readSeveral reads nodes with one request, and then lists the children where
// that is needed. If the request or the answer is too long, the nodes are read one
// by one.
func (l *loop) readSeveral(all []request) {
	paths := make([]string, len(all))
	for i, q := range all {
		paths[i] = q.path
	}
	nodes, _, err := insider.Of(l.c.client).MultiRead(l.ctx, paths...)
	read := result{several: make([]result, 0, len(all)), err: err}
	for i, q := range all {
		r := result{request: q}
		switch {
		case isTooLong(err), err == nil && l.needsNoRight(nodes[i].Err):
			l.inBackground(func() { l.deliver(l.read(l.ctx, q)) })
			continue
		case err != nil:
		case nodes[i].Err == nil:
			r.node = l.nodeOf(q.path, nodes[i])
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

// isTooLong reports whether a multiRead, or its answer, is too long.
func isTooLong(err error) bool {
	return reason.Is(err, framework.ErrRequestTooLarge) || reason.Is(err, framework.ErrAnswerTooLarge) ||
		reason.Is(err, &framework.HangUpError{})
}

// needsNoRight reports whether a node whose data may not be read is looked for
// without it: older servers tell everybody whether a node exists.
func (l *loop) needsNoRight(err error) bool { return l.c.cfg.noData && reason.Is(err, zk.ErrNoAuth) }

// nodeOf returns a node that was read with others.
func (l *loop) nodeOf(path string, read insider.NodeRead) *Node {
	n := &Node{Path: path, Data: read.Data, Stat: *read.Stat}
	if l.c.cfg.noData {
		n.Data = nil
	}
	return n
}

// severalArrived takes the results of one multiRead.
func (l *loop) severalArrived(read result) {
	refused := false
	switch err := read.err; {
	case err == nil, isNoAnswer(err), reason.Is(err, zk.ErrAuthFailed), l.ctx.Err() != nil:
	case isTooLong(err):
		l.mayRead = max(leastAtATime, l.mayRead/2)
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
			size += int(r.node.Stat.DataLength)
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
	l.hot = map[string]int{}
	l.c.events.Emit(eventNoMultiRead, err)
}
