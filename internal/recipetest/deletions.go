package recipetest

import (
	"sync"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// Deletions remembers which nodes an operator has deleted while clients go on.
// They are known by their czxid, because a path may be created again.
type Deletions struct {
	mu      sync.Mutex // held while an operator deletes, so that nobody sees the deletion before it is remembered
	at      map[int64]time.Time
	between []span
}

// span is the time of one deletion, in transactions. Clients may create nodes
// during it. The operator may or may not have deleted those.
type span struct {
	after, upTo int64
}

// Delete lists nodes, and calls a function that deletes them, or that ends
// their session. The function reports whether it has done so.
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
