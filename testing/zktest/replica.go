package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// replica is the data of one server, with its watches. A leader that lags makes
// transactions before it has applied the previous ones.
type replica struct {
	tree     *datatree.Tree
	watches  *datatree.Watches[*conn]
	zxid     int64                    // the last transaction applied
	overflow map[*datatree.Node]int32 // the state after the last transaction; see datatree.Txn
	ahead    *lead                    // nil unless this is a leader that lags; see madeLocked
}

// lead has all transactions that a lagging leader has made. The followers have applied
// them, and the leader's own tree has only a part of them.
type lead struct {
	tree *datatree.Tree
	zxid int64
}

func newReplica(cfg *config) replica {
	tree := datatree.New()
	tree.DeletesKeepPzxid = cfg.ClickHouseKeeper
	tree.SASL = cfg.sasl != nil
	return replica{tree: tree, watches: datatree.NewWatches[*conn](cfg.Version38)}
}

// madeLocked returns the tree in which the server makes transactions, and the last
// transaction. Every server except a lagging leader has applied that transaction.
func (r *replica) madeLocked() (tree *datatree.Tree, zxid int64) {
	if r.ahead != nil {
		return r.ahead.tree, r.ahead.zxid
	}
	return r.tree, r.zxid
}

func (r *replica) madeZxidLocked() int64 {
	_, zxid := r.madeLocked()
	return zxid
}

// nextZxidLocked numbers the next transaction: the epoch is in the upper half.
func (r *replica) nextZxidLocked(epoch int64) int64 { return max(r.madeZxidLocked(), epoch<<32) + 1 }

// getAheadLocked lets a leader make transactions before it applies them.
func (r *replica) getAheadLocked() {
	if r.ahead == nil {
		r.ahead = &lead{r.tree.Clone(), r.zxid}
		r.overflow = nil // its keys are nodes of the other tree
	}
}

// endAheadLocked is called when a lagging leader has applied all its transactions.
func (r *replica) endAheadLocked() {
	if r.ahead != nil {
		r.ahead, r.overflow = nil, nil
	}
}

// copyLocked copies the transactions that another server has made.
func (r *replica) copyLocked(from *replica) {
	if tree, zxid := from.madeLocked(); r.zxid != zxid {
		r.tree, r.zxid = tree.Clone(), zxid
	}
	r.overflow = nil
}

// applyLocked applies a transaction that another server has made.
func (r *replica) applyLocked(effects []datatree.Effect, zxid int64) {
	for _, do := range effects {
		do(r.tree)
	}
	r.tree.TakeEffects() // these effects are already known
	r.zxid = zxid
}

// fireLocked sends the watch events of one change to the clients that may read the
// node. Every other client loses the event, and its one-shot watch is used up.
func (r *replica) fireLocked(change datatree.NodeChange, zxid int64) {
	r.watches.Fire(change.Change, func(to map[*conn]struct{}, ev datatree.Change) {
		frame := wire.Notification(ev.Event, ev.Path, zxid) // shared by the clients, and never changed
		acl := change.ACL
		if ev.Event == wire.EventChildrenChanged {
			acl = change.ParentACL
		}
		for c := range to {
			if !datatree.Permitted(acl, c.ids, wire.PermRead) {
				continue
			}
			path, frame := ev.Path, frame
			if c.srv.cfg.ClickHouseKeeper {
				path = r.keeperPathLocked(c, path)
				frame = wire.Notification(ev.Event, path, zxid)
			}
			c.notifyLocked(ev.Event, path, frame)
		}
	})
}
