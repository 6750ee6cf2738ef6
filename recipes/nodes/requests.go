package nodes

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// name sets the node's name. A protected name never changes. The keeper therefore finds a
// node whose create reply was lost, and never creates a second node next to it
// (CURATOR-190).
func (k *keeper) name() {
	dir, name := path.Split(k.path)
	if k.cfg.unique() {
		name = "_c_" + znode.GUID() + "-" + name // Curator's prefix
	}
	k.base = znode.Join(path.Clean(dir), name)
	if k.cfg.mode != framework.EphemeralSequential {
		k.node = k.base
	}
}

// findNumber looks for a sequential node that may exist although the reply to its create
// was lost.
func (k *keeper) findNumber(ctx context.Context) error {
	if k.node != "" {
		return nil
	}
	dir, prefix := path.Split(k.base)
	parent := path.Clean(dir)
	names, _, err := k.client.Children(ctx, parent)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			k.node = znode.Join(parent, name)
		}
	}
	return nil
}

// create creates the node. An existing node is no error: the next step reads it.
func (k *keeper) create(ctx context.Context) error {
	if k.avoided.free(0, nil) > 0 {
		return k.transact(ctx, nil)
	}
	wish := k.wanted()
	k.noteOwner()
	opts := append(k.cfg.createOptions(), k.cfg.parents())
	path := k.node
	if path == "" {
		path = k.base
		opts = append(opts, framework.WithMode(k.cfg.mode))
	}
	created, err := k.client.Create(ctx, path, wish.data, opts...)
	switch {
	case err == nil:
		k.node = created.Path
		k.left(wish, created.Czxid, 0)
		return nil
	case reason.Is(err, zk.ErrNodeExists):
		return k.surprises.Wait(ctx)
	case reason.Is(err, zk.ErrNoNode): // the parents vanish as fast as they are created; the data is not refused
		return err
	}
	k.noteLate(err)
	return k.failed(ctx, wish, nil, err)
}

// noteOwner records the session in which the node may be created next.
func (k *keeper) noteOwner() {
	k.owners.Note(k.session.ID())
	if !k.cfg.ephemeral() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.madeIn = k.session
}

// transact creates the node in a transaction, with a version that is not avoided, and
// deletes the other node in it unless other is nil. If the tree has changed since the
// last read, the next step re-reads the node.
func (k *keeper) transact(ctx context.Context, other *zk.Stat) error {
	wish, version := k.wanted(), k.avoided.free(0, other)
	k.noteOwner()
	var ops []framework.TxnOp
	if other != nil {
		ops = append(ops, framework.DeleteOp(k.node, other.Version))
	}
	first := wish.data
	if version > 0 {
		first = nil // the sets write the data
	}
	opts := append(k.cfg.createOptions(), k.cfg.parents())
	ops = append(append(ops, framework.CreateOp(k.node, first, opts...)), k.sets(wish, 0, version)...)
	results, err := k.client.Transaction(ctx, ops...)
	switch {
	case err == nil:
		k.left(wish, results[len(results)-1].Zxid, version)
		return nil
	case isSurprise(err):
		return k.surprises.Wait(ctx)
	}
	k.noteLate(err)
	return k.failed(ctx, wish, other, err)
}

// sets returns the writes that raise the node from one version to another. The last write
// has the data.
func (k *keeper) sets(wish payload, from, to int32) (ops []framework.TxnOp) {
	for version := from; version < to; version++ {
		var data []byte
		if version == to-1 {
			data = wish.data
		}
		ops = append(ops, framework.SetOp(k.node, data, version))
	}
	return ops
}

// write writes the wanted data, if the node still has the version of the Stat. The node
// gets the next version that is not avoided.
func (k *keeper) write(ctx context.Context, wish payload, stat *zk.Stat) error {
	now, err := k.set(ctx, wish, stat.Version)
	switch {
	case err == nil:
		k.left(wish, now.Czxid, now.Version)
		return nil
	case isSurprise(err):
		return k.surprises.Wait(ctx)
	}
	return k.failed(ctx, wish, stat, err)
}

func (k *keeper) set(ctx context.Context, wish payload, version int32) (*zk.Stat, error) {
	next := k.avoided.free(version+1, nil)
	if next == version+1 {
		return k.client.Set(ctx, k.node, wish.data, version)
	}
	results, err := k.client.Transaction(ctx, k.sets(wish, version, next)...)
	if err != nil {
		return nil, err
	}
	return results[len(results)-1].Stat, nil
}

// isSurprise reports whether the tree has changed between the last read and the request.
func isSurprise(err error) bool {
	return reason.Is(err, zk.ErrNoNode) || reason.Is(err, zk.ErrBadVersion) || reason.Is(err, zk.ErrNodeExists)
}

// left records the node's data and version after a successful request, and that the node
// is registered.
func (k *keeper) left(wish payload, czxid int64, version int32) {
	k.mayBeThere, k.czxid, k.version, k.clean = true, czxid, version, true
	k.wrote(wish)
	k.settle(czxid)
}

// failed handles a failed request. If the server refused the request's data, the keeper
// writes other data, if there is any: see PersistentNode.refuse. The argument stat is the
// node whose version the request compared, or nil.
func (k *keeper) failed(ctx context.Context, wish payload, stat *zk.Stat, err error) error {
	if framework.IsRefusal(err) {
		if k.refuse(wish, err) {
			return nil
		}
		if !k.retriesRefusal(err) {
			return err
		}
		k.events.At(k.node).Emit(eventRefused, err)
		k.refusedFor = min(max(time.Second, 2*k.refusedFor), longestRefusal)
		return k.rest(ctx, k.refusedFor, err, func(now payload) bool { return now.set != wish.set })
	}
	k.mayBeThere, k.doubt, k.clean = true, true, false
	if reason.Is(err, framework.ErrOutcomeUnknown) {
		if !k.settledOnce {
			k.unanswered[wish.set] = wish.data
		}
		if _, answered := framework.ServerCode(err); !answered && stat != nil {
			k.avoided.note(stat)
		}
	}
	switch {
	case !reason.Is(err, &framework.HangUpError{}):
		return err
	case k.have.set == 0, k.have.set == wish.set: // the node has no other data
		return k.rest(ctx, hangUpPause, err, func(now payload) bool { return len(now.data) < len(wish.data) })
	}
	k.hungUp = hungUp{err, len(wish.data), time.Now().Add(hangUpPause)}
	k.clean = stat != nil && stat.Czxid == k.czxid && stat.Version == k.version // unless the request was applied
	return nil
}

// hungUp is data on which servers have hung up. Until a time, a node with other data
// keeps its data, and gets neither this data nor any other data of at least this length.
type hungUp struct {
	err   error
	size  int
	until time.Time
}

// wanted returns the data that the node is to have now.
func (k *keeper) wanted() payload {
	now, _ := k.wantedNow()
	return now
}

// wantedNow returns what the node should have now. heldBack is true if the data of the last
// Set has to wait because of hungUp.
func (k *keeper) wantedNow() (now payload, heldBack bool) {
	wish := k.PersistentNode.wanted()
	if time.Now().Before(k.hungUp.until) && len(wish.data) >= k.hungUp.size {
		return k.have, wish.set != k.have.set
	}
	return wish, false
}

// retriesRefusal reports whether the keeper retries after a refusal.
func (k *keeper) retriesRefusal(err error) bool {
	return k.cfg.patient && k.settledOnce && framework.IsRefusal(err)
}

const (
	// hangUpPause is how long the keeper waits until it sends data again on which servers
	// close the connection. Each request with that data interrupts all other requests of
	// the client.
	hangUpPause = 5 * time.Minute

	longestRefusal = 30 * time.Second // the longest pause of a node that is refused
)

// rest pauses before the next request. Calls that wait for the node return the error why.
// rest returns early if a Set brings data for which goesOn returns true.
func (k *keeper) rest(ctx context.Context, pause time.Duration, why error, goesOn func(payload) bool) error {
	k.keeping.Note(why)
	rest := time.NewTimer(pause)
	defer rest.Stop()
	for !goesOn(k.wanted()) {
		select {
		case <-k.wake:
		case <-rest.C:
			return nil
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
	}
	return nil
}

// lateRequest is a create or a delete whose reply was lost together with its session. A
// stalled server may still carry it out, as long as the servers keep that session.
type lateRequest struct {
	session *framework.Session
	until   time.Time // by then the servers have ended the session, unless they had no leader
}

func (l lateRequest) isPast() bool { return !time.Now().Before(l.until) }

// replyLost returns the request whose reply was just lost.
func (k *keeper) replyLost() lateRequest {
	return lateRequest{k.session, time.Now().Add(3 * k.session.Timeout())}
}

// noteLate records that the reply to a create was lost, if that is what the error means.
func (k *keeper) noteLate(err error) {
	if k.cfg.ttl > 0 || !reason.Is(err, framework.ErrOutcomeUnknown) { // Shutdown leaves a node with a time to live
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = append(slices.DeleteFunc(k.late, lateRequest.isPast), k.replyLost())
}

// catchUp runs after a lost reply: it makes the server catch up with all earlier requests
// of this client. After that, no server carries out an earlier request of this session.
// catchUp also finds the number that a sequential node may have got.
func (k *keeper) catchUp(ctx context.Context) error {
	if !k.doubt {
		return nil
	}
	if err := k.client.SyncQuorum(ctx); err != nil {
		return err
	}
	if err := k.findNumber(ctx); err != nil {
		return err
	}
	k.doubt = false
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = slices.DeleteFunc(k.late, func(l lateRequest) bool { return l.session == k.session })
	return nil
}

// versions are the versions that a late request may compare. No node of the keeper, not even
// a re-created node, may have such a version, because ZooKeeper's delete and write compare
// only the version. There are two kinds:
//
//   - The last version that was seen of another client's node. The owner may have read the
//     node and be about to delete it.
//   - The version in a request of this keeper whose reply was lost. A server may carry the
//     request out as long as the servers keep its session.
type versions []versionOf

type versionOf struct {
	czxid   int64
	version int32
}

// maxVersions bounds how many nodes are remembered, and so how many operations a create
// can take.
const maxVersions = 8

// note records the version of a node, and replaces the node's earlier version.
func (v *versions) note(stat *zk.Stat) {
	*v = slices.DeleteFunc(*v, func(o versionOf) bool { return o.czxid == stat.Czxid })
	*v = append(*v, versionOf{stat.Czxid, stat.Version})
	*v = (*v)[max(0, len(*v)-maxVersions):]
}

// free returns the first version, starting at from, that is not in v. If deleted is not
// nil, the result also differs from the version of that node, which the same transaction
// deletes.
func (v versions) free(from int32, deleted *zk.Stat) int32 {
	isTaken := func(o versionOf) bool { return o.version == from }
	for deleted != nil && deleted.Version == from || slices.ContainsFunc(v, isTaken) {
		from++
	}
	return from
}
