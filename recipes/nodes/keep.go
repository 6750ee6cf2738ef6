package nodes

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// keeper is the goroutine of a persistent node, with what no other goroutine
// reads.
type keeper struct {
	*PersistentNode
	before *PersistentNode // another node of the path, which goes before ours is created; or nil
	told   func()          // waits until hooks were told of the requests of run

	session    *framework.Session // the one of the last look at the node
	base       string             // the path to create; a sequential node gets a number behind it
	node       string             // the path of the node; empty while a number is not known
	doubt      bool               // a request of ours may be applied, or may be yet
	unanswered []attempt          // the node at the path may be of one of these

	// The node as we have left it.
	czxid   int64
	version int32
	clean   bool // it has the data of the field have, if it still has this czxid and version

	last        *framework.Watch // of our node, when the life has ended; or nil
	settledOnce bool             // it was registered before
	predecessor *int32           // the version of somebody else's node that we have waited for
	repairs     pauses.Growing
	surprises   pauses.Growing // the tree was not as we had just seen it
	hidden      pauses.Growing // somebody else's node may not be read
	sent        time.Time      // the time of the newest request that makes the node, or writes it
	touched     touches
	takeBack    func() // keeps the loss of the session from being told
}

// newKeeper returns the keeper of a node, with its two loops: the first keeps the
// node, and the second deletes it. The client does not repeat their requests:
// whoever owns the path may have changed since the first attempt, so we look
// before we ask again.
func newKeeper(n, before *PersistentNode) *keeper {
	k := &keeper{
		PersistentNode: n, before: before,
		told:      func() {},
		takeBack:  func() {},
		touched:   touches{clock: insider.Of(n.client).Clock},
		repairs:   pauses.Vanished(),
		surprises: pauses.Vanished(),
		hidden:    pauses.Trouble(),
	}
	k.name()
	about := func() slog.Attr { return k.events.At(cmp.Or(k.node, k.path)).Path() }
	k.keeping.Awaited = n.cfg.ttl > 0 && n.cfg.ttl < mayPause // the next touch must not come too late
	k.keeping.Client, k.removal.Client = n.client, n.client
	k.keeping.What, k.removal.What = "persistent node", "deletion of a persistent node"
	k.keeping.About, k.removal.About = about, about
	k.keeping.Ends = isConflict
	k.removal.Outlasts = follow.RefusedCredentials // nobody relies on the node any more
	k.keeping.Look, k.removal.Look = k.once(k.hold), k.once(k.removeOnce)
	k.keeping.Failed = k.notePast // a timer stands still while the machine is suspended
	return k
}

// run keeps the node until ctx ends, or an error ends it.
func (k *keeper) run(ctx context.Context) error {
	if k.before != nil && !k.before.life.WaitGone(ctx) {
		return ctx.Err()
	}
	ctx, k.told = trace.Unblocked(ctx, k.client) // the requests do not wait for a tracer
	return k.keeping.Run(ctx)
}

// finish deletes the node. That takes until there is a connection. It calls no
// code of the user's, which could end the goroutine.
func (k *keeper) finish(reason error) {
	n := k.PersistentNode
	n.life.Stop()
	k.touched.stop()
	k.takeBack()
	n.end(reason)
	k.told()
	ctx, told := trace.Unblocked(framework.Extend(n.client).Context(), n.client)
	leftover := k.remove(ctx)
	told()
	if k.before != nil {
		<-k.before.life.Gone() // a third node of the path has to wait for it, too
		k.before = nil         // it would keep a chain of nodes in memory
	}
	pathsInUse.leave(n)
	if n.whenGone != nil && n.life.UnlessWanted(leftover) == nil { // a node that stays is not listed as another's
		n.whenGone()
	}
	n.noteGone(leftover)
}

func (n *PersistentNode) noteGone(leftover error) {
	n.mu.Lock()
	if n.life.UnlessWanted(leftover) != nil {
		n.record.left = n.now
	}
	n.now, n.leftover, n.record.over = nil, leftover, true
	n.mu.Unlock()
	n.recordLeftover(n.life.Err(), leftover)
}

func isConflict(err error) bool { return reason.Is(err, ErrConflict) }

// once returns a look whose operations are not repeated.
func (k *keeper) once(look func(ctx context.Context, isNew bool) error) func(context.Context, *framework.Session) error {
	return func(ctx context.Context, s *framework.Session) error {
		isNew := k.session != s
		k.session = s
		return look(once.Single(ctx), isNew)
	}
}

// hold looks after the node once. In a new session, it may create the node
// first.
func (k *keeper) hold(ctx context.Context, isNew bool) error {
	if isNew && k.isProbablyMissing() {
		if err := k.create(ctx); err != nil {
			return err
		}
	}
	return k.step(ctx)
}

// isProbablyMissing reports whether to create the node in a new session without
// looking for it first.
func (k *keeper) isProbablyMissing() bool {
	mayHaveNumber := k.node == "" && k.doubt
	return !mayHaveNumber && (k.cfg.ephemeral() || !k.settledOnce)
}

// step looks at the node, and does what is to be done next.
func (k *keeper) step(ctx context.Context) error {
	if err := k.catchUp(ctx); err != nil {
		return err
	}
	if k.node == "" {
		return k.create(ctx)
	}
	there, stat, watch, err := k.look(ctx)
	if k.isHidden(err) {
		return k.contendUnseen(ctx)
	}
	if err != nil {
		return err
	}
	var whose verdict
	defer func() {
		if whose == ours && ctx.Err() != nil {
			k.last = watch
		} else {
			watch.Stop()
		}
	}()
	if !there || k.conflictWith(stat.Czxid) == nil { // whose it is may take long to read
		k.conflictIsOver()
	}
	whose, err = k.whose(ctx, there, stat)
	if whose != foreign && whose != unknown {
		k.conflictIsOver()
	}
	switch whose {
	case unknown:
		k.deleted() // the one that was ours is gone, whosever this is
		return err
	case missing:
		return k.recreate(ctx)
	case former:
		return k.replace(ctx, stat.Version)
	case foreign:
		return k.contend(ctx, stat, watch)
	default:
		return k.attend(ctx, stat, watch)
	}
}

// look looks at the node, with a watch that does not end with ctx. If ctx ends
// because the node is to be deleted, the deletion uses the watch up, and no
// request has to remove it.
func (k *keeper) look(ctx context.Context) (there bool, stat *zk.Stat, watch *framework.Watch, err error) {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	there, stat, watch, err = k.client.ExistsW(watching, k.node)
	if !stop() && err == nil { // the watch has ended with ctx
		err = reason.OfContext(ctx)
	}
	if err != nil {
		cancel()
	}
	return there, stat, watch, err
}

// catchUp makes the server know of all that we have asked for before, if the
// reply to some of it was lost. A sequential node may have got its number.
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
	k.forgetLate() // no server carries out an earlier request of this session after the sync
	return nil
}

// verdict says whose a node is.
type verdict int

const (
	missing verdict = iota
	ours            // it belongs to this session; or to none, if ours is not ephemeral
	former          // it belongs to an earlier session of ours, and is about to vanish
	foreign
	unknown // its data would say that, and could not be read
)

// whose returns whose a node is, as judge does. A node that needs a claim and
// has none is somebody else's.
func (k *keeper) whose(ctx context.Context, there bool, stat *zk.Stat) (verdict, error) {
	whose := k.judge(there, stat)
	if whose != ours || !k.needsClaim(stat) {
		return whose, nil
	}
	claimed, err := k.isClaimed(ctx, stat)
	switch {
	case err != nil:
		return unknown, err
	case !claimed:
		return foreign, nil
	}
	return ours, nil
}

func (k *keeper) judge(there bool, stat *zk.Stat) verdict {
	switch {
	case !there:
		return missing
	case !k.cfg.ephemeral() && isOwnerless(stat.EphemeralOwner):
		return ours
	case k.cfg.ephemeral() && stat.EphemeralOwner == k.session.ID():
		return ours
	case k.cfg.ephemeral() && k.owners.Has(stat.EphemeralOwner):
		return former
	default:
		return foreign
	}
}

// isOwnerless reports whether a node is not ephemeral. Servers put the time to
// live of a node into the field for its owner (EphemeralType).
func isOwnerless(owner int64) bool { return owner == 0 || uint64(owner)>>56 == 0xff }

// recreate creates a node that is gone: at once the first time, and after a
// pause if somebody deletes it again and again.
func (k *keeper) recreate(ctx context.Context) error {
	k.unanswered = nil
	if err := k.wasDeleted(ctx); err != nil {
		return err
	}
	return k.create(ctx)
}

// wasDeleted notes that somebody has deleted our node, and waits if that
// happens again and again.
func (k *keeper) wasDeleted(ctx context.Context) error {
	k.clean = false
	if _, there := k.Registration(); !there {
		return nil
	}
	k.deleted()
	return k.repairs.Wait(ctx)
}

// contend decides what follows a conflict. It returns nil when it is time to
// look again.
func (k *keeper) contend(ctx context.Context, stat *zk.Stat, watch *framework.Watch) error {
	k.clean = false
	k.deleted()
	k.predecessor = &stat.Version // also if it goes before it is read: requests of its owner may come late
	rival := conflictOf(k.node, stat)
	switch gone, err := k.readData(ctx, rival); {
	case err != nil:
		return err
	case gone:
		return k.surprises.Wait(ctx)
	}
	k.conflicts(rival)
	switch {
	case k.cfg.conflict == Replace && !k.settledOnce:
		return k.replace(ctx, stat.Version)
	case k.cfg.conflict != Wait:
		return rival
	}
	k.keeping.Recovered()
	_, err := watch.Wait(ctx)
	k.surprises.Reset()
	return err
}

// readData reads the data of somebody else's node, once for each node. It
// reports whether the node is gone, or is another one. A node whose data may not
// be read is a conflict without them.
func (k *keeper) readData(ctx context.Context, rival *ConflictError) (gone bool, err error) {
	if known := k.conflictWith(rival.Czxid); known != nil {
		rival.Data = known.Data
		return false, nil
	}
	data, stat, err := k.client.Get(ctx, k.node)
	switch {
	case err == nil && stat.Czxid == rival.Czxid:
		rival.Data = data
	case err == nil, reason.Is(err, zk.ErrNoNode):
		return true, nil
	case !reason.Is(err, zk.ErrNoAuth):
		return false, err
	}
	return false, nil
}

// isHidden reports whether the error of a look means that somebody else's node
// is in the way, and may not be read. Servers of 3.8.4, 3.9 and later refuse to
// tell whose it is. If we have a node, it is ours, and its ACL keeps us out.
func (k *keeper) isHidden(err error) bool { return reason.Is(err, zk.ErrNoAuth) && !k.hasNode() }

// contendUnseen is contend for a node that may not be read. There is no watch
// for its end.
func (k *keeper) contendUnseen(ctx context.Context) error {
	k.clean = false
	rival := &ConflictError{Path: k.node, Err: zk.ErrNoAuth}
	k.conflicts(rival)
	if k.cfg.conflict != Wait {
		return rival
	}
	k.keeping.Recovered()
	k.predecessor = new(int32) // the version of every node that was never written to
	return k.hidden.Wait(ctx)
}

// attend looks after a node that is ours. It returns nil when it is time to
// look again.
func (k *keeper) attend(ctx context.Context, stat *zk.Stat, watch *framework.Watch) error {
	if stat.Czxid != k.czxid { // it is not the one that was registered, if one was
		if err := k.wasDeleted(ctx); err != nil {
			return err
		}
	}
	if k.clean && stat.Version != k.version {
		k.overwritten(k.node, stat.Czxid)
		k.version = stat.Version
		k.clean = k.cfg.data == Accept
		if !k.clean {
			if err := k.repairs.Wait(ctx); err != nil {
				return err
			}
		}
	}
	if wish := k.wanted(); !k.clean || wish.set != k.has() {
		return k.write(ctx, wish, stat.Version)
	}
	k.settle(stat.Czxid)
	again, err := k.touchIfDue(ctx)
	if err != nil || again {
		return err
	}
	if err := k.waitForNews(ctx, watch); err != nil || isClosed(watch.Done()) {
		return err
	}
	if wish := k.wanted(); wish.set != k.has() {
		return k.write(ctx, wish, stat.Version)
	}
	return nil
}

// waitForNews returns nil when the node was changed, has to be changed, or has
// to be touched.
func (k *keeper) waitForNews(ctx context.Context, watch *framework.Watch) error {
	due := k.touched.due(k.cfg.ttl)
	defer due.Stop()
	select {
	case <-watch.Done():
		return nil
	case <-k.wake:
		return nil
	case <-due.C:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// settle notes that the node is there and ours. One with a time to live that
// has passed since the last touch may vanish at any moment: touchIfDue settles
// it.
func (k *keeper) settle(czxid int64) {
	if k.cfg.ttl > 0 {
		if k.touched.czxid != czxid {
			k.touched.begin(czxid, k.sentFor(czxid), k.cfg.ttl, k.notePast)
		}
		if k.touched.isOverdue() {
			return
		}
	}
	k.settledOnce, k.predecessor = true, nil
	k.hidden.Reset()
	if !k.isTouchDue() { // the touch may fail again
		k.keeping.Recovered()
	}
	k.registered(Registration{Path: k.node, Czxid: czxid, Session: k.session})
}

// sentFor returns when the request was sent that has made the node, or written
// it: the server counts from no earlier moment. It is zero if another process
// may have done that.
func (k *keeper) sentFor(czxid int64) time.Time {
	if k.clean && k.czxid == czxid {
		return k.sent
	}
	return time.Time{}
}
