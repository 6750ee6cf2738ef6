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

// name decides what the node is called. A protected name is the node's for its
// whole life. That way a node that was created without our knowledge is found,
// and a node that must be created again is no second one (CURATOR-190).
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

// findNumber looks for a sequential node that may have been created without our
// knowledge.
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

// create creates the node. A node that is in the way is no error: the next step
// looks at it.
func (k *keeper) create(ctx context.Context) error {
	if k.notFirst {
		return k.transact(ctx, 0)
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
	if reason.Is(err, zk.ErrNodeExists) {
		return k.surprises.Wait(ctx)
	}
	if err != nil {
		k.noteLate(err)
		return k.failed(ctx, wish, err)
	}
	k.node = created.Path
	k.left(wish, created.Czxid, 0)
	return nil
}

// noteOwner notes the session in which the node may be created next.
func (k *keeper) noteOwner() {
	k.owners.Note(k.session.ID())
	if !k.cfg.ephemeral() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.madeIn = k.session
}

// replace deletes a node of this version, and creates ours, in one transaction.
func (k *keeper) replace(ctx context.Context, version int32) error {
	return k.transact(ctx, version, framework.DeleteOp(k.node, version))
}

// transact makes a transaction that creates the node after another one of the given
// version. Ours gets version 1 if that is 0, or else 0: the servers compare nothing
// else when a delete of the other node arrives late. If the tree is not as we
// thought, the next step looks at it.
func (k *keeper) transact(ctx context.Context, other int32, ops ...framework.TxnOp) error {
	wish, version := k.wanted(), int32(0)
	k.noteOwner()
	ops = append(ops, framework.CreateOp(k.node, wish.data, k.cfg.createOptions()...))
	if other == 0 {
		ops = append(ops, framework.SetOp(k.node, wish.data, 0))
		version = 1
	}
	results, err := k.client.Transaction(ctx, ops...)
	switch {
	case err == nil:
		k.left(wish, results[len(results)-1].Zxid, version)
		return nil
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion), reason.Is(err, zk.ErrNodeExists):
		k.notFirst = false // create makes missing parents, too, if there is none
		return k.surprises.Wait(ctx)
	}
	k.noteLate(err)
	return k.failed(ctx, wish, err)
}

// write writes the data that the node is to have, if it still has the given
// version.
func (k *keeper) write(ctx context.Context, wish payload, version int32) error {
	stat, err := k.client.Set(ctx, k.node, wish.data, version)
	switch {
	case err == nil:
		k.left(wish, stat.Czxid, stat.Version)
		return nil
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		return k.surprises.Wait(ctx)
	}
	return k.failed(ctx, wish, err)
}

// left notes how a request has left our node, and that it is registered.
func (k *keeper) left(wish payload, czxid int64, version int32) {
	k.mayBeThere, k.czxid, k.version, k.clean = true, czxid, version, true
	k.wrote(wish)
	k.settle(czxid)
}

// failed decides about a request that has failed. If its data was refused, and
// there is other data, the node gets that.
func (k *keeper) failed(ctx context.Context, wish payload, err error) error {
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
		k.unanswered = &wish
	}
	if reason.Is(err, &framework.HangUpError{}) {
		return k.rest(ctx, hangUpPause, err, func(now payload) bool { return len(now.data) < len(wish.data) })
	}
	return err
}

// retriesRefusal reports whether the keeper retries after a refusal.
func (k *keeper) retriesRefusal(err error) bool {
	return k.cfg.patient && k.settledOnce && framework.IsRefusal(err)
}

const (
	// hangUpPause is how long a node rests whose data makes servers hang up. Each
	// request with that data interrupts all others of the client.
	hangUpPause = 5 * time.Minute

	longestRefusal = 30 * time.Second // of the pauses of a node that is refused
)

// rest pauses before the next request. Calls that wait for the node get the error why.
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

// lateCreate is a request that creates the node, and whose reply was lost with its
// session. A server that has stalled with the request may still carry it out, as long
// as the servers keep that session.
type lateCreate struct {
	session *framework.Session
	until   time.Time // when the servers have ended the session, unless they had no leader
}

func (l lateCreate) isPast() bool { return time.Now().After(l.until) }

// noteLate notes that the reply to a create was lost, if the error says so.
func (k *keeper) noteLate(err error) {
	if k.cfg.ttl > 0 || !reason.Is(err, framework.ErrOutcomeUnknown) { // Shutdown leaves a node with a time to live
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = append(slices.DeleteFunc(k.late, lateCreate.isPast), lateCreate{k.session, time.Now().Add(3 * k.session.Timeout())})
}

// catchUp makes the server know of all that we have asked for before, if the
// reply to some of it was lost. No server carries out an earlier request of this
// session after that. A sequential node may have got its number.
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
	k.late = slices.DeleteFunc(k.late, func(l lateCreate) bool { return l.session == k.session })
	return nil
}
