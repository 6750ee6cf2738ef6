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

// keeper is the goroutine of a persistent node, with what no other goroutine
// reads.
type keeper struct {
	*PersistentNode
	before *PersistentNode // another node of the path, which goes before ours is created; or nil

	session    *framework.Session // the one of the last look at the node
	base       string             // the path to create; a sequential node gets a number behind it
	node       string             // the path of the node; empty while a number is not known
	watch      *framework.Watch   // of the last look; nil before that
	doubt      bool               // a request of ours may be applied, or may be yet
	mayBeThere bool               // a request may have made the node, or written to it
	unanswered *payload           // of the last request whose reply was lost; or nil

	// The node as we have left it.
	czxid   int64
	version int32
	clean   bool // it has the data of the field have, if it still has this czxid and version

	settledOnce bool          // it was registered before
	avoided     versions      // a late request compares one of them
	refusedFor  time.Duration // the last pause after a refusal
	hungUp      hungUp        // data on which servers hang up
	repairs     pauses.Growing
	surprises   pauses.Growing // the tree was not as we had just seen it
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
		takeBack:  func() {},
		repairs:   pauses.Vanished(),
		surprises: pauses.Vanished(),
	}
	k.name()
	about := func() slog.Attr { return k.events.At(cmp.Or(k.node, k.path)).Path() }
	k.keeping.Awaited = n.cfg.ttl > 0 && n.cfg.ttl < mayPause // the next touch must not come too late
	k.keeping.Client, k.removal.Client = n.client, n.client
	k.keeping.What, k.removal.What = "persistent node", "deletion of a persistent node"
	k.keeping.About, k.removal.About = about, about
	k.keeping.Ends, k.keeping.Outlasts = isConflict, k.retriesRefusal
	k.removal.Outlasts = follow.RefusedCredentials // nobody relies on the node any more
	k.keeping.Look, k.removal.Look = k.once(k.hold), k.once(k.removeOnce)
	k.keeping.Tell = func(err error) {
		if err != nil {
			k.notePast() // a timer stands still while the machine is suspended
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

// finish deletes the node. That takes until there is a connection.
func (k *keeper) finish(reason error) {
	n := k.PersistentNode
	n.life.Stop()
	k.stopTouching()
	k.takeBack()
	n.end(reason)
	leftover := k.remove(framework.Extend(n.client).Context())
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

// noteGone notes the end of the removal.
func (n *PersistentNode) noteGone(leftover error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now, n.leftover = nil, leftover
	n.late = slices.DeleteFunc(n.late, lateCreate.isPast) // the removal has seen these
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
		k.clean = false
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
	stat, err := k.look(ctx)
	if err != nil {
		return err
	}
	wasLeft := k.clean // a node with a time to live need not be registered yet
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

// look looks at the node, with a watch that does not end with ctx. If ctx ends
// because the node is to be deleted, the deletion uses the watch up, and no
// request has to remove it. The stat of a node that is missing is zero.
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

// verdict says whose a node is.
type verdict int

const (
	missing verdict = iota
	ours
	former // it belongs to an earlier session of ours, and is about to vanish
	foreign
)

// whose says whose a node is. An ephemeral node belongs to its session. Any other node
// is ours if we have made it or written to it, or if its data are claimed. To describe
// another client's node, whose reads it, and may find that the node is gone.
func (k *keeper) whose(ctx context.Context, stat *zk.Stat) (verdict, *ConflictError, error) {
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
	k.avoided.note(stat) // also if it goes before it is read: requests of its owner may come late
	data, now, err := k.client.Get(ctx, k.node)
	switch {
	case reason.Is(err, zk.ErrNoNode), err == nil && now.Czxid != stat.Czxid:
		return missing, nil, k.surprises.Wait(ctx)
	case err == nil && mayBeClaimed && k.cfg.claim(data):
		return ours, nil, nil
	case err != nil && !reason.Is(err, zk.ErrNoAuth):
		return foreign, nil, err
	}
	return foreign, &ConflictError{Path: k.node, Session: owner, Czxid: stat.Czxid, Since: timeOf(stat.Ctime), Data: data}, nil
}

// isOwnerless reports whether a node is not ephemeral. Servers put the time to
// live of a node into the field for its owner (EphemeralType).
func isOwnerless(owner int64) bool { return owner == 0 || uint64(owner)>>56 == 0xff }

// timeOf returns the time of a Stat's field.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis) }

// contend decides what follows a conflict. It returns nil when it is time to
// look again.
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

// attend looks after a node that is ours. It returns nil when it is time to
// look again.
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

// waitForNews returns nil when the node was changed, has to be changed, or has
// to be touched, and when data that servers hang up on is due again.
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

// settle notes that the node is there and ours. One with a time to live has to be
// touched first.
func (k *keeper) settle(czxid int64) {
	if k.cfg.ttl > 0 && !k.isTouched(czxid) {
		return
	}
	k.settledOnce, k.refusedFor = true, 0
	k.keeping.Recovered()
	if _, heldBack := k.wantedNow(); heldBack {
		k.keeping.Note(k.hungUp.err)
	}
	k.registered(Registration{Path: k.node, Czxid: czxid, Session: k.session})
}

// registered notes that the node is there, and is ours.
func (k *keeper) registered(r Registration) {
	if !k.noteRegistered(&r, k.touched.until) || !k.cfg.ephemeral() {
		return
	}
	k.takeBack()
	// Not under the mutex: a session that is over calls the function at once.
	n, session := k.PersistentNode, r.Session
	stop := session.AfterTrust(session.Context(), func() { n.lost(r.Czxid, context.Cause(session.Context())) })
	k.takeBack = func() { stop() }
}

// remove deletes the node, if it is ours, however long that takes. It returns
// why the node may still be there: the server's refusal, or that the client was
// closed.
func (k *keeper) remove(ctx context.Context) error {
	defer k.stopWatching()
	if k.cfg.ttl > 0 || !k.mayBeThere {
		return nil
	}
	if !k.settledOnce && k.cfg.claim == nil { // nothing but the data says that the node is ours
		k.cfg.claim = func(data []byte) bool { return k.unanswered != nil && bytes.Equal(data, k.unanswered.data) }
	}
	if err := k.removal.Run(ctx); err == nil || ctx.Err() == nil && !reason.Is(err, framework.ErrClosed) {
		return err
	}
	return framework.ErrClosed
}

// removeOnce deletes the node, if it is ours. ZooKeeper's delete asks for
// nothing but the version. In between, nobody can put another node in the place
// of ours but somebody who deletes ours.
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
	if !there {
		return follow.ErrDone
	}
	whose, _, err := k.whose(ctx, stat)
	if err != nil {
		return err
	}
	if whose == missing || whose == foreign {
		return follow.ErrDone
	}
	err = k.client.Delete(ctx, k.node, stat.Version)
	switch {
	case err == nil:
		return follow.ErrDone
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		return nil
	}
	k.doubt = true
	return err
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
