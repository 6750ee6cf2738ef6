package scenarios

import (
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// tenants are the nodes that were at some paths one after the other, by their czxids.
type tenants map[int64]tenant

type tenant struct {
	zktest.Node // as it was last

	written bool // since it was first seen
}

// see notes the nodes below a path.
func (t tenants) see(tree explore.Tree, path string) {
	for _, n := range below(tree, path) {
		before, known := t[n.Stat.Czxid]
		t[n.Stat.Czxid] = tenant{n, known && (before.written || before.Stat.Version != n.Stat.Version)}
	}
}

// mayBeHit reports whether a late delete of another client's node may hit this node. The
// documentation of recipes/nodes says when: both have the same version, and this client
// has not seen the other node with that version. A client that nothing has happened to
// has seen the last version of each node that was in its way.
func (k *kept) mayBeHit(r nodes.Registration) bool {
	ours, known := k.before[r.Czxid]
	if !known {
		return false
	}
	for czxid, t := range k.before {
		isEarlier := t.Path == r.Path && czxid < r.Czxid && !k.sessions[t.Stat.EphemeralOwner]
		isSeen := k.hasSeen(czxid) && (!t.written || !k.actor.Disturbed())
		if isEarlier && !isSeen && t.Stat.Version == ours.Stat.Version {
			return true
		}
	}
	return false
}

// hasSeen reports whether another client's node was in the way of this one.
func (k *kept) hasSeen(czxid int64) bool {
	for _, c := range k.changes {
		var conflict *nodes.ConflictError
		if reason.As(c.Err, &conflict) && conflict.Czxid == czxid {
			return true
		}
	}
	return false
}
