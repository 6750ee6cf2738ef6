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

// request asks for a path.
type request struct {
	path  string
	needs needs
	known known
	asked int // loop.round when the request was made
}

// known is what the loop knew of a node when it made a request.
type known struct {
	node   *Node
	listed int64 // the Pzxid when the children were listed, or -1
}

// result is the answer to a request.
type result struct {
	request

	// At most one of the next four is set. Then the result has nothing else, except
	// round and err.
	sync     bool      // the answer to a Sync
	together *together // the answer to a multiRead of hot nodes
	several  []result  // the answers to a multiRead of other nodes
	retry    *retry    // the pause of this retry is over

	round int // loop.round when a Sync or a multiRead of hot nodes was sent

	node   *Node // nil if the node does not exist
	listed bool
	names  []string
	pzxid  int64
	err    error
}

// read reads a node, and lists its children if needed.
func (l *loop) read(ctx context.Context, q request) (r result) {
	r.request = q
	if r.node, r.err = l.readNode(ctx, q); r.err != nil || !l.wantsChildren(q, r.node) {
		return r
	}
	return l.list(ctx, r)
}

// readNode reads a node, and its data unless the data are known. If the ACL has changed,
// readNode reads the data again: older servers answer Exists without a permission, and
// only a read shows whether the client may still read the node.
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

// mayBeUnchanged reports whether the node is known and no event says that it changed.
// Then a smaller request may show that the node is unchanged.
func (q request) mayBeUnchanged() bool { return q.known.node != nil && q.needs&needScan != 0 }

// list lists the children of a node, after its read.
func (l *loop) list(ctx context.Context, r result) result {
	names, stat, err := l.c.client.Children(ctx, r.path)
	if r.err = noNodeIsNil(err); err != nil {
		r.node = nil
		return r
	}
	r.listed, r.names, r.pzxid = true, names, stat.Pzxid
	return r
}

// wantsChildren reports whether to list the children of a node, after its read.
func (l *loop) wantsChildren(q request, n *Node) bool {
	switch {
	case n == nil || !l.c.scope.hasChildren(q.path):
		return false
	case q.needs&needList != 0:
		return true
	case q.known.node == nil || q.known.node.Stat.Czxid != n.Stat.Czxid: // children may be older than the watch
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

// A request costs server, client and network more than the node that it reads. So when
// many nodes wait to be read, the loop reads several of them with one multiRead. The
// loop treats the answer as the answers to concurrent single reads.
//
// Answers should not become large. So the mean size of the data in an answer decides
// how many nodes the next requests may read. The first requests read the largest
// number of nodes that WithConcurrency allows, which limits the nodes in flight and not
// the requests.
const (
	mostAtATime    = 32       // nodes of one multiRead
	leastAtATime   = 2        // a single node says little about the mean size
	largeAnswer    = 64 << 10 // bytes of data that an answer should not exceed
	longestPath    = 1 << 10  // bytes; a node with a longer path is read alone
	littleData     = 1 << 10  // bytes that are cheap enough to be read again
	partOfAllReads = 4        // so that the server has the next request while it answers one
)

// atATime returns how many nodes one request may read.
func (l *loop) atATime() int {
	return max(1, min(l.mayRead, l.c.cfg.pending/partOfAllReads))
}

// hasRead takes the number of nodes in an answer, and the size of their data.
func (l *loop) hasRead(nodes, size int) {
	l.mayRead = min(mostAtATime, max(leastAtATime, follow.NextReads(l.mayRead, nodes, size, largeAnswer)))
}

// asksForStat reports whether the node has much data, and has probably not changed.
// Then a request for its Stat alone is cheaper.
func (q request) asksForStat() bool {
	return q.mayBeUnchanged() && q.known.node.Stat.DataLength > littleData
}

// launch begins as many reads as may be in flight.
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

// readSeveral reads nodes with one request, and lists their children if needed. If the
// server refuses the whole request, or the request or its answer is too long, then
// readSeveral reads the nodes one by one.
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

// isOfRequest reports whether an error is about the multiRead, and not about the
// connection or the client.
func isOfRequest(err error) bool {
	return err != nil && (isTooLong(err) || !isNoAnswer(err) && !reason.Is(err, zk.ErrAuthFailed))
}

// isTooLong reports whether a multiRead, or its answer, is too long.
func isTooLong(err error) bool {
	return reason.Is(err, framework.ErrRequestTooLarge) || reason.Is(err, framework.ErrAnswerTooLarge) ||
		reason.Is(err, &framework.HangUpError{})
}

// needsNoRight reports whether Exists may succeed after a refused read. The cache keeps
// no data, and older servers answer Exists without a permission.
func (l *loop) needsNoRight(err error) bool { return l.c.cfg.noData && reason.Is(err, zk.ErrNoAuth) }

// nodeOf returns a node of a multiRead.
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

// A node is hot if it changes during each read. A single read cannot show a hot node as
// of a target: the target is older than the read, and the node has changed since the
// target. So the loop reads all hot nodes together, and takes the target from the
// answer:
//
//   - If a batch brings no step, the paths that prevented the step become hot.
//   - If a hot path is dirty, the next batch begins with one multiRead of all hot
//     paths, while no other read is in flight. A server applies no transaction during
//     a multiRead. So the answer has all these nodes as of one transaction, which its
//     header names, and that transaction is the target of the batch.
//   - Events of changes up to the target arrive before the answer, and later events
//     after it. So a hot path with an event before the answer is clean again. An event
//     after the answer leaves the path to the next batch.
//   - The loop reads the other paths with events before the answer one by one. The
//     usual test decides whether they are as of the target. A path that fails the test
//     becomes hot.
//
// So each batch brings a step or another hot path. With n hot nodes, the next step comes
// after at most n batches; once the loop knows all hot nodes, each step takes two round
// trips.
//
// A path stays hot until it was clean in several of these batches, or until a batch
// without a multiRead brings a step.

// maxTogether is the largest size of one multiRead of hot nodes, in bytes of the request
// and of the answer. The loop reads further hot nodes one by one. If a server refuses
// this size, the loop halves it.
const maxTogether = 512 << 10

// restsToCool is how many batches a hot path must be clean to cool. A node that changes
// in every few batches would soon be hot again.
const restsToCool = 8

// overhead is the approximate size of an entry in a multiRead and its answer without
// path and data.
const overhead = 128

// together is the answer to a multiRead of hot nodes.
type together struct {
	paths []string
	nodes []insider.NodeRead
	zxid  int64
}

// hotPaths returns the hot paths to read together, or nil if none of them is dirty.
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
	slices.Sort(paths) // the client recognizes a request that ends its connection again and again
	return paths
}

// readTogether begins a batch with a multiRead of hot paths.
func (l *loop) readTogether(paths []string) {
	l.asking = true
	round := l.round
	l.readers.Go(func() {
		nodes, zxid, err := insider.Of(l.c.client).MultiRead(l.ctx, paths...)
		l.deliver(result{together: &together{paths, nodes, zxid}, round: round, err: err})
	})
}

// readTogetherArrived takes the answer to a multiRead of hot nodes. If the answer cannot
// be used, the next call of step begins another batch.
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

// takeTogether takes one node of the answer, which is as of the target. If the node's
// children must be listed, the path is left to a single read.
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
