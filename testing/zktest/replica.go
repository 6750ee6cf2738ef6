package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// replica is the data of one server, and who watches it. A leader that lags
// makes transactions ahead of what it has applied.
type replica struct {
	tree     *datatree.Tree
	watches  *datatree.Watches[*conn]
	zxid     int64                    // the last transaction applied
	overflow map[*datatree.Node]int32 // what the last transaction has left; see datatree.Txn
	ahead    *lead                    // nil unless this is a leader that lags; see madeLocked
}

// lead is what a leader that lags has made. The followers have it, and the
// leader's own tree has what it has applied of it.
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

// madeLocked returns the tree in which the server makes transactions, and the
// last of them. For all but a leader that lags, that is what it has applied.
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
		r.overflow = nil // it is about the nodes of the other tree
	}
}

// endAheadLocked is for a leader that has applied all that it has made.
func (r *replica) endAheadLocked() {
	if r.ahead != nil {
		r.ahead, r.overflow = nil, nil
	}
}

// copyLocked takes over what another server has made.
func (r *replica) copyLocked(from *replica) {
	if tree, zxid := from.madeLocked(); r.zxid != zxid {
		r.tree, r.zxid = tree.Clone(), zxid
	}
	r.overflow = nil
}

// applyLocked does what another server has done.
func (r *replica) applyLocked(effects []datatree.Effect, zxid int64) {
	for _, do := range effects {
		do(r.tree)
	}
	r.tree.TakeEffects() // nobody needs them twice
	r.zxid = zxid
}

// fireLocked sends the watch events of one change to the clients that may read
// the node. For the others the event is lost, and so is a watch that was good
// for one.
func (r *replica) fireLocked(change datatree.NodeChange, zxid int64) {
	r.watches.Fire(change.Change, func(to map[*conn]struct{}, ev datatree.Change) {
		frame := wire.Notification(ev.Event, ev.Path, zxid) // shared: nobody changes it
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
