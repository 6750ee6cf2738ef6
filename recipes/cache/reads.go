package cache

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
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
	return max(1, min(l.mayRead, l.c.cfg.pending/partOfAllReads))
}

// hasRead is told how much data an answer had.
func (l *loop) hasRead(nodes, size int) {
	l.mayRead = min(mostAtATime, max(leastAtATime, follow.NextReads(l.mayRead, nodes, size, largeAnswer)))
}

// asksForStat reports whether a node is known to have much data, and is likely not to
// have changed. A request for its Stat alone is smaller.
func (q request) asksForStat() bool {
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
		if n > 1 && len(path) <= longestPath && !q.asksForStat() {
			several = append(several, q)
			continue
		}
		l.readers.Go(func() { l.deliver(l.read(l.ctx, q)) })
	}
	l.queue = l.queue[n:]
	if len(several) > 0 {
		l.readers.Go(func() { l.readSeveral(several) })
	}
}

// readSeveral reads nodes with one request, and then lists the children where
// that is needed. If the server refuses the request, or the request or the answer is
// too long, the nodes are read one by one: the refusal is of no node.
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
		case isOfRequest(err), err == nil && l.needsNoRight(nodes[i].Err):
			l.readers.Go(func() { l.deliver(l.read(l.ctx, q)) })
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
		l.readers.Go(func() { l.deliver(l.list(l.ctx, r)) })
	}
	l.deliver(read)
}

// isOfRequest reports whether an error says something of a multiRead, and not of the
// connection or the client.
func isOfRequest(err error) bool {
	return err != nil && (isTooLong(err) || !isNoAnswer(err) && !reason.Is(err, zk.ErrAuthFailed))
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
	if isTooLong(read.err) {
		l.mayRead = max(leastAtATime, l.mayRead/2)
	}
	size := 0
	for _, r := range read.several {
		if read.err != nil {
			r.err = read.err
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

// A node is hot if it changes again in the time of each read. A read of its own
// cannot bring its state as of a target: the target is older than the read, and
// the node is younger than the target. So hot nodes are read together, and the
// target is chosen by the answer:
//
//   - A batch that brings no step says which paths were in the way. They are hot
//     from then on.
//   - If a hot path is dirty, the next batch begins with one multiRead of all hot
//     paths, while no other read is under way. A server carries out no
//     transaction during a request that reads. So the answer has the state of
//     all these paths as of one transaction, which its header names. That is the
//     target of the batch.
//   - Events of changes up to the target come before the answer, and all later
//     ones after it. So a hot path that was told of before the answer is not
//     dirty any more. One that was told of after it is left to the next batch.
//   - The other paths that were told of before the answer are read one by one.
//     What says whether they are as of the target is the same as in any batch.
//     A path that is not becomes hot, too.
//
// So each batch brings a step, or there is one more hot path. With n nodes that
// are hot, a step takes n batches at most, and two requests, one after the
// other, when all of them are known.
//
// A path stays hot until it has rested in a number of such batches, or until a
// batch without a multiRead brings a step.

// maxTogether bounds what is read by one multiRead, in bytes of its request and
// of its answer. What is hot beyond that is read one by one. If that is too long for
// a server, it is half as much from then on.
const maxTogether = 512 << 10

// restsToCool is in how many batches a hot path must have rested. A node that
// changes in every few batches is soon in the way again. On the other hand, most
// paths that are gone do not come back.
const restsToCool = 8

// overhead is about what a path takes in a multiRead and its answer beside its
// name and data.
const overhead = 128

// together is the answer to a multiRead.
type together struct {
	paths []string
	nodes []insider.NodeRead
	zxid  int64
}

// hotPaths returns what is to be read together, if any of it is dirty.
func (l *loop) hotPaths() (paths []string) {
	dirty, size := false, 0
	for path := range l.hot {
		size += overhead + len(path)
		if n := l.tree.node(path); n != nil {
			size += int(n.Stat.DataLength)
		}
		if size > l.mayTogether && len(paths) > 0 {
			break
		}
		_, told := l.dirty[path]
		dirty = dirty || told
		paths = append(paths, path)
	}
	if !dirty {
		return nil
	}
	slices.Sort(paths) // the client counts the connections that end with the same request
	return paths
}

// readTogether begins a batch with a multiRead.
func (l *loop) readTogether(paths []string) {
	l.asking = true
	round := l.round
	l.readers.Go(func() {
		nodes, zxid, err := insider.Of(l.c.client).MultiRead(l.ctx, paths...)
		l.deliver(result{together: &together{paths, nodes, zxid}, round: round, err: err})
	})
}

// readTogetherArrived takes the answer to a multiRead. Without one that can be
// used, the next step begins another batch.
func (l *loop) readTogetherArrived(r result) {
	l.asking = false
	if err := l.source.drain(l); err != nil {
		return // the next drain returns it again
	}
	switch err := r.err; {
	case r.round != l.round, l.ctx.Err() != nil:
		return
	case reason.Is(err, zk.ErrAuthFailed):
		l.awaitReconnect()
		return
	case isTooLong(err) && len(r.together.paths) > 1:
		l.mayTogether /= 2
		return
	case err != nil: // the next batch reads them one by one
		l.hot = cleared(l.hot)
		return
	}
	l.target, l.begun = r.together.zxid, time.Now()
	for i, path := range r.together.paths {
		l.takeTogether(path, r.together.nodes[i])
	}
	l.includeAll()
}

// takeTogether takes one node of a multiRead, which is as of the target. A node
// whose children must be listed is left to a read of its own.
func (l *loop) takeTogether(path string, read insider.NodeRead) {
	d, dirty := l.dirty[path]
	switch {
	case read.Err == nil:
		n := l.nodeOf(path, read)
		if l.wantsChildren(request{path: path, needs: d.needs, known: l.tree.nodes[path].copy()}, n) {
			return
		}
		l.tree.put(n)
	case reason.Is(read.Err, zk.ErrNoNode):
		l.tree.remove(path)
	case l.needsNoRight(read.Err):
		return
	default:
		l.refused(result{request: request{path: path}, err: read.Err})
	}
	l.together[path] = struct{}{}
	if dirty {
		l.hot[path] = restsToCool
		l.settle(path, d)
	} else if l.hot[path]--; l.hot[path] <= 0 {
		delete(l.hot, path)
	}
}
