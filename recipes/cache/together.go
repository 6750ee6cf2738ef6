package cache

import (
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

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
	if !l.readsTogether() {
		return nil
	}
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
	l.inBackground(func() {
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
	case r.round != l.round, isNoAnswer(err), l.ctx.Err() != nil:
		return
	case reason.Is(err, zk.ErrAuthFailed):
		l.awaitReconnect()
		return
	case isTooLong(err) && len(r.together.paths) > 1:
		l.mayTogether /= 2
		return
	case err == nil && !r.together.isAsOfOne():
		err = errors.New("the server changes nodes while it reads them")
		fallthrough
	case err != nil:
		l.cannotReadTogether(err)
		return
	}
	l.target, l.begun = r.together.zxid, time.Now()
	for i, path := range r.together.paths {
		l.takeTogether(path, r.together.nodes[i])
	}
	l.includeAll()
}

// isAsOfOne reports whether no node is younger than the answer.
func (t *together) isAsOfOne() bool {
	for _, n := range t.nodes {
		if n.Err == nil && max(n.Stat.Czxid, n.Stat.Mzxid) > t.zxid {
			return false
		}
	}
	return true
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
	if path == l.c.scope.root {
		l.countRootEvents(l.target)
	}
	if dirty {
		l.hot[path] = restsToCool
		l.settle(path, d)
	} else if l.hot[path]--; l.hot[path] <= 0 {
		delete(l.hot, path)
	}
}
