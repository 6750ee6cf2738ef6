package nodes

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// create creates the node. A node that is in the way is no error: the next step
// looks at it.
func (k *keeper) create(ctx context.Context) error {
	wish := k.wanted()
	k.noteOwner()
	if k.predecessor != nil && *k.predecessor == 0 {
		return k.replaceWith(ctx, wish, 0)
	}
	opts := append(k.cfg.createOptions(), k.cfg.parents())
	path := k.node
	if path == "" {
		path = k.base
		opts = append(opts, framework.WithMode(k.cfg.mode))
	}
	if err := k.hearNews(ctx); err != nil {
		return err
	}
	a := k.attempt(wish, 0)
	created, err := k.client.Create(ctx, path, wish.data, opts...)
	if reason.Is(err, zk.ErrNodeExists) {
		return k.surprises.Wait(ctx)
	}
	if err != nil {
		k.noteLate(err)
		return k.failed(ctx, a, err)
	}
	k.node = created.Path
	k.created(wish, created.Czxid, 0)
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
	wish := k.wanted()
	k.noteOwner()
	return k.replaceWith(ctx, wish, version, framework.DeleteOp(k.node, version))
}

// versionBehind returns the version that our node gets behind another one. It
// is a different one: the servers compare nothing else when a delete of the
// other node arrives late.
func versionBehind(other int32) int32 {
	if other == 0 {
		return 1
	}
	return 0
}

// replaceWith makes a transaction that creates the node behind another one of
// the given version. If the tree is not as we thought, the next step looks at
// it.
func (k *keeper) replaceWith(ctx context.Context, wish payload, other int32, ops ...framework.TxnOp) error {
	a := k.attempt(wish, versionBehind(other))
	ops = append(ops, framework.CreateOp(k.node, wish.data, k.cfg.createOptions()...))
	if a.version == 1 {
		ops = append(ops, framework.SetOp(k.node, wish.data, 0))
	}
	results, err := k.client.Transaction(ctx, ops...)
	switch {
	case err == nil:
		k.created(wish, results[len(results)-1].Zxid, a.version)
		return nil
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion), reason.Is(err, zk.ErrNodeExists):
		k.predecessor = nil // create makes missing parents, too, if there is none
		return k.surprises.Wait(ctx)
	default:
		k.noteLate(err)
		return k.failed(ctx, a, err)
	}
}

// created notes that our node is there.
func (k *keeper) created(wish payload, czxid int64, version int32) {
	k.left(czxid, version)
	k.wrote(wish)
	k.settle(czxid)
}

// left notes how a request has left our node. What became of earlier ones is known
// then, unless one of them has not been looked for: no other node is of these.
func (k *keeper) left(czxid int64, version int32) {
	k.czxid, k.version, k.clean = czxid, version, true
	if !k.doubt {
		k.unanswered = nil
	}
}

// write writes the data that the node is to have, if it still has the given
// version.
func (k *keeper) write(ctx context.Context, wish payload, version int32) error {
	a := k.attempt(wish, version+1)
	stat, err := k.client.Set(ctx, k.node, wish.data, version)
	switch {
	case err == nil:
		k.left(stat.Czxid, stat.Version)
		k.wrote(wish)
		k.settle(stat.Czxid)
		return nil
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		return k.surprises.Wait(ctx)
	default:
		return k.failed(ctx, a, err)
	}
}
