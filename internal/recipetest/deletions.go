package recipetest

import (
	"sync"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// Deletions remembers which nodes an operator has deleted while clients are running. It
// identifies nodes by czxid, because a path may be created again.
type Deletions struct {
	mu      sync.Mutex // held while an operator deletes, so that no reader misses a deletion
	at      map[int64]time.Time
	between []span
}

// span is the time of one deletion, in transactions. The operator may or may not have
// deleted a node that a client has created during that time.
type span struct {
	after, upTo int64
}

// Delete lists nodes, and calls a function that deletes the nodes or ends their
// session. The function reports whether it succeeded.
func (d *Deletions) Delete(srv *zktest.Server, list func() []zktest.Node, remove func([]zktest.Node) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := srv.Stats().Zxid
	nodes := list()
	if len(nodes) == 0 || !remove(nodes) {
		return
	}
	now := time.Now()
	if d.at == nil {
		d.at = map[int64]time.Time{}
	}
	for _, n := range nodes {
		d.at[n.Stat.Czxid] = now
	}
	d.between = append(d.between, span{after: after, upTo: srv.Stats().Zxid})
}

// At returns the time when the operator deleted the node with this czxid.
func (d *Deletions) At(czxid int64) (at time.Time, deleted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, deleted = d.at[czxid]
	return at, deleted
}

// MayHave reports whether the operator has deleted the node with this czxid, or
// may have, because the node was created during a deletion.
func (d *Deletions) MayHave(czxid int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, deleted := d.at[czxid]; deleted {
		return true
	}
	for _, s := range d.between {
		if s.after < czxid && czxid <= s.upTo {
			return true
		}
	}
	return false
}
