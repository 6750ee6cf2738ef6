package claim

import (
	"maps"
	"slices"
	"sync"
)

// Several holders of a client may hold the same nodes side by side, such as
// readers. Then the claim to the nodes has no shares, and each holder has a
// member of it: a claim of its own with its own leases and trace. What happens to
// the nodes happens to all members. The last that is given up gives the nodes up,
// or passes them on. Until then, Retire, Dissolve, Unwatch and Spent must not be
// called on either kind of claim: they act on the nodes.

// members are the claims of those who hold nodes side by side.
type members struct {
	of *Claim // the claim to the nodes

	mu   sync.Mutex // protects the following fields; it may be locked while a watcher's is
	all  map[*Claim]struct{}
	over bool // the last has left: nobody joins any more
}

// Member returns a claim of one more holder, without shares. It returns nil if
// the last of them has given the nodes up.
func (c *Claim) Member() *Claim {
	c.mu.Lock()
	if c.members == nil {
		c.members = &members{of: c, all: map[*Claim]struct{}{}}
	}
	m := c.members
	c.mu.Unlock()
	next := &Claim{terms: c.terms, nodes: c.nodes, watcher: c.watcher, memberOf: m}
	next.begin(c.ctx)
	if !m.add(next) {
		next.end(ErrReleased)
		return nil
	}
	return next
}

// add adds a member, which hears of earlier requests to give the lock up.
func (m *members) add(c *Claim) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return false
	}
	m.all[c] = struct{}{}
	if m.of.IsRequested() {
		c.noteRequest()
	}
	return true
}

// leaveOthers removes a claim that is given up from those who hold its nodes. It
// reports whether others hold them still.
func (c *Claim) leaveOthers() bool {
	m := c.memberOf
	if m == nil {
		return false
	}
	m.mu.Lock()
	delete(m.all, c)
	m.over = len(m.all) == 0
	over := m.over
	m.mu.Unlock()
	if over {
		m.of.Stop()
		m.of.contextEnded() // if that has ended it, and nothing has told it yet
		m.of.become(Released)
	}
	return !over
}

// eachMember calls f for all members, if there are any. f may be slow.
func (c *Claim) eachMember(f func(*Claim)) {
	c.mu.Lock()
	m := c.members
	c.mu.Unlock()
	if m == nil {
		return
	}
	m.mu.Lock()
	all := slices.Collect(maps.Keys(m.all))
	m.mu.Unlock()
	for _, one := range all {
		f(one)
	}
}
