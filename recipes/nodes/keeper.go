package nodes

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// keeper is the goroutine of a persistent node, together with the state that only this
// goroutine reads.
type keeper struct {
	*PersistentNode
	before *PersistentNode // an earlier node of this path that must be gone first; or nil

	session    *framework.Session // the session of the last read
	base       string             // the path to create; the server appends the number of a sequential node
	node       string             // the path of the node; empty while its number is unknown
	watch      *framework.Watch   // of the last read; nil before the first
	doubt      bool               // a request without a reply may have been applied, or may still be applied
	mayBeThere bool               // a request may have created the node, or written to it
	unanswered map[uint64][]byte  // the data of lost requests before the first registration, by payload.set
	deletion   lateRequest        // the last delete whose reply was lost; or zero
	leaving    int64              // the czxid of the node that the removal has found; or 0

	// The node after our last write.
	czxid   int64
	version int32
	clean   bool // if czxid and version are unchanged, the node has the data in the field have

	settledOnce bool          // the node was registered before
	avoided     versions      // versions that a late request may compare
	refusedFor  time.Duration // the last pause after a refusal
	hungUp      hungUp        // data on which servers hang up
	repairs     pauses.Growing
	surprises   pauses.Growing // pauses after the tree has changed since the last read
	touched     touches
	takeBack    func() // cancels the report of the session's loss
}

// newKeeper returns the keeper of a node, with its two loops: the first keeps the node,
// and the second deletes it. The client does not repeat their requests: after a lost
// reply, the owner of the path may have changed, so the loop re-reads the node first.
func newKeeper(n, before *PersistentNode) *keeper {
	k := &keeper{
		PersistentNode: n, before: before,
		takeBack:   func() {},
		unanswered: map[uint64][]byte{},
		repairs:    pauses.Vanished(),
		surprises:  pauses.Vanished(),
	}
	k.name()
	about := func() slog.Attr { return k.events.At(cmp.Or(k.node, k.path)).Path() }
	k.keeping.Awaited = n.cfg.ttl > 0 && n.cfg.ttl < mayPause // the next touch must not come too late
	k.keeping.Client, k.removal.Client = n.client, n.client
	k.keeping.What, k.removal.What = "persistent node", "deletion of a persistent node"
	k.keeping.About, k.removal.About = about, about
	k.keeping.Ends, k.keeping.Survives = isConflict, k.retriesRefusal
	k.removal.Survives = follow.RefusedCredentials // no other process depends on the node now
	k.keeping.Look, k.removal.Look = k.once(k.hold), k.once(k.removeOnce)
	k.keeping.Tell = func(err error) {
		if err != nil {
			k.notePast() // a timer stops while the machine is suspended
		}
	}
	return k
}

// run keeps the node until ctx ends, or an error ends it.
func (k *keeper) run(ctx context.Context) error {
	if k.before != nil && !k.before.life.WaitGone(ctx) {
		return ctx.Err()
	}
	return k.keeping.Run(ctx)
}

// finish deletes the node. It waits for a connection, however long that takes.
func (k *keeper) finish(reason error) {
	n := k.PersistentNode
	n.life.Stop()
	k.stopTouching()
	k.takeBack()
	n.end(reason)
	leftover := k.remove(framework.Extend(n.client).Context())
	if k.before != nil {
		<-k.before.life.Gone() // a third node of the path must wait for it, too
		k.before = nil         // keeping it would chain all earlier nodes in memory
	}
	pathsInUse.leave(n)
	if n.whenGone != nil && n.life.UnlessWanted(leftover) == nil { // until then, the node is listed as own
		n.whenGone()
	}
	n.noteGone(leftover)
}

// noteGone records the end of the removal.
func (n *PersistentNode) noteGone(leftover error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now, n.leftover = nil, leftover
	n.late = slices.DeleteFunc(n.late, lateRequest.isPast) // the removal has covered these
}

func isConflict(err error) bool { return reason.Is(err, ErrConflict) }

// once returns a read whose operations are not repeated.
func (k *keeper) once(
	look func(ctx context.Context, isNew bool) error,
) func(context.Context, *framework.Session) error {
	return func(ctx context.Context, s *framework.Session) error {
		isNew := k.session != s
		k.session = s
		return look(once.Single(ctx), isNew)
	}
}

// hold checks the node once. In a new session, hold may create the node before the first
// read.
func (k *keeper) hold(ctx context.Context, isNew bool) error {
	if isNew && k.isProbablyMissing() {
		k.clean = false
		if err := k.create(ctx); err != nil {
			return err
		}
	}
	return k.step(ctx)
}

// isProbablyMissing reports whether to create the node in a new session without reading
// it first.
func (k *keeper) isProbablyMissing() bool {
	mayHaveNumber := k.node == "" && k.doubt
	return !mayHaveNumber && (k.cfg.ephemeral() || !k.settledOnce)
}

// step reads the node, and takes the next action.
func (k *keeper) step(ctx context.Context) error {
	if err := k.catchUp(ctx); err != nil {
		return err
	}
	if k.node == "" {
		return k.create(ctx)
	}
	stat, err := k.look(ctx)
	if err != nil {
		return err
	}
	wasLeft := k.clean // a node with a time to live may not be registered yet
	k.clean = wasLeft && stat.Czxid == k.czxid
	if isLost := k.saw(stat.Czxid); isLost || wasLeft && !k.clean {
		if err := k.repairs.Wait(ctx); err != nil {
			return err
		}
	}
	whose, rival, err := k.whose(ctx, stat)
	switch {
	case err != nil:
		return err
	case whose == missing:
		return k.create(ctx)
	case whose == former:
		return k.transact(ctx, stat)
	case whose == foreign:
		return k.contend(ctx, rival, stat)
	}
	return k.attend(ctx, stat)
}

// look reads the node with a watch that survives ctx. If ctx ends because the node is to
// be deleted, the deletion triggers the watch, and no request is needed to remove it. If
// the node is missing, the Stat is zero.
func (k *keeper) look(ctx context.Context) (*zk.Stat, error) {
	k.stopWatching()
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	there, stat, watch, err := k.client.ExistsW(watching, k.node)
	k.watch = watch
	if !stop() && err == nil { // the watch has ended with ctx
		err = reason.OfContext(ctx)
	}
	switch {
	case err != nil:
		cancel()
		return nil, err
	case !there:
		return &zk.Stat{}, nil
	}
	return stat, nil
}

func (k *keeper) stopWatching() {
	if k.watch != nil {
		k.watch.Stop()
	}
}

// ownership is the owner of a node, from this keeper's view.
type ownership int

const (
	missing ownership = iota
	ours
	former // an earlier session of this client owns it; it is about to vanish
	foreign
)

// whose returns who owns a node. The session identifies the owner of an ephemeral node.
// Any other node is ours if this keeper created it or wrote to it, or if its data is
// claimed. To describe another client's node, whose reads the data, and may find that the
// node is gone.
func (k *keeper) whose(ctx context.Context, stat *zk.Stat) (ownership, *ConflictError, error) {
	ephemeral, owner := k.cfg.ephemeral(), stat.EphemeralOwner
	mayBeClaimed := !ephemeral && isOwnerless(owner)
	switch {
	case stat.Czxid == 0:
		return missing, nil, nil
	case ephemeral && owner == k.session.ID(), mayBeClaimed && (k.cfg.claim == nil || stat.Czxid == k.czxid):
		return ours, nil, nil
	case ephemeral && k.owners.Has(owner):
		return former, nil, nil
	}
	k.avoided.note(stat) // even if the next read fails: requests of the owner may arrive late
	data, now, err := k.client.Get(ctx, k.node)
	switch {
	case reason.Is(err, zk.ErrNoNode), err == nil && now.Czxid != stat.Czxid:
		return missing, nil, k.surprises.Wait(ctx)
	case err == nil && mayBeClaimed && k.cfg.claim(data):
		return ours, nil, nil
	case err != nil && !reason.Is(err, zk.ErrNoAuth):
		return foreign, nil, err
	}
	return foreign,
		&ConflictError{Path: k.node, Session: owner, Czxid: stat.Czxid, Since: timeOf(stat.Ctime), Data: data}, nil
}

// isOwnerless reports whether a node is not ephemeral. For a node with a time to live,
// servers store the time in the field of the owner (EphemeralType).
func isOwnerless(owner int64) bool { return owner == 0 || uint64(owner)>>56 == 0xff }

// timeOf converts a time field of a Stat.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis) }

// contend handles a conflict. It returns nil when the node should be read again.
func (k *keeper) contend(ctx context.Context, rival *ConflictError, stat *zk.Stat) error {
	k.conflicts(rival)
	switch {
	case k.cfg.conflict == Replace && !k.settledOnce:
		return k.transact(ctx, stat)
	case k.cfg.conflict != Wait:
		return rival
	}
	k.keeping.Recovered()
	_, err := k.watch.Wait(ctx)
	k.surprises.Reset()
	return err
}

// attend maintains the client's own node. It returns nil when the node should be read
// again.
func (k *keeper) attend(ctx context.Context, stat *zk.Stat) error {
	if k.clean && stat.Version != k.version {
		k.overwritten(k.node, stat.Czxid)
		k.clean = false
		if err := k.repairs.Wait(ctx); err != nil {
			return err
		}
	}
	if wish := k.wanted(); !k.clean || wish.set != k.have.set {
		return k.write(ctx, wish, stat)
	}
	if k.cfg.ttl > 0 && k.untilTouch(stat.Czxid) <= 0 {
		if again, err := k.touch(ctx, stat.Czxid); err != nil || again {
			return err
		}
	}
	k.settle(stat.Czxid)
	if err := k.waitForNews(ctx, stat.Czxid); err != nil || isClosed(k.watch.Done()) {
		return err
	}
	if wish := k.wanted(); wish.set != k.have.set {
		return k.write(ctx, wish, stat)
	}
	return nil
}

// waitForNews returns nil when the node has changed, should get new data, or is due for a
// touch, and when data on which servers hang up is due again.
func (k *keeper) waitForNews(ctx context.Context, czxid int64) error {
	var due, again <-chan time.Time
	if k.cfg.ttl > 0 {
		due = time.After(k.untilTouch(czxid))
	}
	if _, heldBack := k.wantedNow(); heldBack {
		again = time.After(time.Until(k.hungUp.until))
	}
	select {
	case <-k.watch.Done():
		return nil
	case <-k.wake:
		return nil
	case <-due:
		return nil
	case <-again:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// settle notes that the node is registered. A node with a time to live must be touched
// first.
func (k *keeper) settle(czxid int64) {
	if k.cfg.ttl > 0 && !k.isTouched(czxid) {
		return
	}
	k.settledOnce, k.refusedFor, k.unanswered = true, 0, nil
	k.keeping.Recovered()
	if _, heldBack := k.wantedNow(); heldBack {
		k.keeping.Note(k.hungUp.err)
	}
	k.registered(Registration{Path: k.node, Czxid: czxid, Session: k.session})
}

// registered reports that the node exists and belongs to this client.
func (k *keeper) registered(r Registration) {
	if !k.noteRegistered(&r, k.touched.until) || !k.cfg.ephemeral() {
		return
	}
	k.takeBack()
	// Not under the mutex: AfterTrust calls the function at once if the session is over.
	n, session := k.PersistentNode, r.Session
	stop := session.AfterTrust(session.Context(), func() { n.lost(r.Czxid, context.Cause(session.Context())) })
	k.takeBack = func() { stop() }
}

// remove deletes the node, if it is ours, however long that takes. If the node may still
// exist, it returns the reason: the server's refusal, or that the client was closed.
func (k *keeper) remove(ctx context.Context) error {
	defer k.stopWatching()
	if k.cfg.ttl > 0 || !k.mayBeThere {
		return nil
	}
	if !k.settledOnce && k.cfg.claim == nil { // only the data can show that the node is ours
		k.cfg.claim = func(data []byte) bool {
			for _, sent := range k.unanswered {
				if bytes.Equal(data, sent) {
					return true
				}
			}
			return false
		}
	}
	if err := k.removal.Run(ctx); err == nil || ctx.Err() == nil && !reason.Is(err, framework.ErrClosed) {
		return err
	}
	return framework.ErrClosed
}

// removeOnce deletes the node, if it is ours. An earlier delete may have been applied, and
// another client may keep the path now, so a node with another czxid stays. ZooKeeper's
// delete compares only the version. Between the read and the delete, another client's node
// can take its place only if a client deletes this client's node. The keeper must not make
// room for such a node while an earlier delete may still arrive, and leaves a former node
// to the servers.
func (k *keeper) removeOnce(ctx context.Context, _ bool) error {
	if err := k.catchUp(ctx); err != nil {
		return err
	}
	if k.node == "" {
		return follow.ErrDone
	}
	there, stat, err := k.client.Exists(ctx, k.node)
	if err != nil {
		return err
	}
	if !there || k.leaving != 0 && k.leaving != stat.Czxid {
		return follow.ErrDone
	}
	whose, _, err := k.whose(ctx, stat)
	if err != nil {
		return err
	}
	if whose == missing || whose == foreign {
		return follow.ErrDone
	}
	k.leaving = stat.Czxid
	if whose == former || k.deletion.session != k.session && !k.deletion.isPast() {
		return k.awaitGone(ctx, stat.Czxid)
	}
	err = k.client.Delete(ctx, k.node, stat.Version)
	switch {
	case err == nil:
		return follow.ErrDone
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		return nil
	}
	k.doubt = true
	if reason.Is(err, framework.ErrOutcomeUnknown) {
		k.deletion = k.replyLost()
	}
	return err
}

// awaitGone waits until the node with this czxid may be gone, or until an earlier delete
// can no longer arrive.
func (k *keeper) awaitGone(ctx context.Context, czxid int64) error {
	stat, err := k.look(ctx)
	if err != nil || stat.Czxid != czxid {
		return err
	}
	var due <-chan time.Time
	if !k.deletion.isPast() {
		due = time.After(time.Until(k.deletion.until))
	}
	select {
	case <-k.watch.Done():
		return nil
	case <-due:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
