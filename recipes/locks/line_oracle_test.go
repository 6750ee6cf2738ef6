package locks_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// These are the bounds that the oracles allow. All hold in virtual time.
const (
	oracleSession = 9 * time.Second

	// nodesOfALine is how many nodes the goroutines of one client have for one
	// lock and one set of options.
	nodesOfALine = 2

	// joinBound is how long readers may join the node of their client after a
	// writer of another client has queued.
	joinBound = 100 * time.Millisecond

	// wakeBound is how long a free lock may have waiters while there is no fault
	// and no latency.
	wakeBound = 100 * time.Millisecond

	// returnBound is how long a call may go on after its context has ended.
	returnBound = 100 * time.Millisecond

	// recoveryBound is how long clients need after the last fault to notice what
	// they have lost, and to queue again.
	recoveryBound = oracleSession + 10*time.Second
)

// kept is a lock that was released before its minimum hold was over.
type kept struct {
	by    *contender
	until time.Time
}

// turns are the leases that a node has had.
type turns struct {
	first  time.Time
	n      int
	passed int // of those that came while another client waited
}

// oracle checks all calls of one lock. It fails the test if one of these rules is
// broken:
//
//   - Exclusion: two leases whose contexts are alive do not exclude each other. A
//     writer's token is larger than every token before it, except that a node may
//     have several leases within the bounds of its options. No reader's token is
//     smaller than a writer's before it.
//   - Order of nodes: no lock is granted while a node with a smaller number
//     excludes it.
//   - Order of goroutines: goroutines of one client and one set of options that exclude
//     each other are granted in the order of their arrival, in a calm.
//   - Fairness: in a calm, each client passes the first waiter of another one no
//     more often than its nodes and its options allow. Readers do not pass a writer
//     of another client once joinBound is over.
//   - Liveness: in a calm, a lock that is free has no waiters for longer than
//     wakeBound, and a try of a lock without nodes succeeds. Every call returns with
//     its context, and an acquire without a deadline succeeds.
//
// A calm is a time without faults, after every client has recovered from those before.
type oracle struct {
	logf func(format string, args ...any) // for the history of a run that has failed
	errf func(format string, args ...any)
	path string
	head func() *zktest.Server // has all that was committed

	// clients are what the options of each client allow together, since objects with
	// different options may share a node.
	clients []policy

	mu      sync.Mutex // protects the following fields
	calm    bool
	ending  bool // every holder releases at once
	arrived int
	waiting []*contender // in the order of arrival
	holding []*contender
	kept    []kept
	nodes   map[string]*turns
	writers int64 // the largest token of a writer
	readers int64 // the largest token of a reader

	deleted map[string]bool   // nodes that an operator has deleted
	revoked map[string]bool   // nodes whose lock a client has requested by Revoke
	expired map[int]time.Time // when an operator ended a client's session

	// unseated are clients whose waiters may have no node: an operator has deleted
	// it, and the client notices that when the node ahead goes. A client is in the
	// map until it has no waiters.
	unseated map[int]bool
	tally    map[string]int // what makes a run worth its time
}

func (o *oracle) fail(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failLocked(format, args...)
}

func (o *oracle) failLocked(format string, args ...any) {
	o.logf("WRONG: "+format, args...)
	o.errf("at "+time.Now().Format(time.RFC3339Nano)+": "+format, args...)
}

// setCalm begins a calm, or ends it. What came before has no order in it.
func (o *oracle) setCalm(calm bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logf("calm: %v", calm)
	o.calm, o.arrived = calm, 0
	for _, w := range o.waiting {
		w.arrival, w.frontAt = 0, time.Time{}
	}
	for _, h := range o.holding {
		h.inCalm = false
	}
}

// begins notes that an acquire is about to begin.
func (o *oracle) begins(c *contender) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calm {
		o.arrived++
		c.arrival = o.arrived
	}
	o.logf("%v comes", c)
	c.passed = map[int]int{}
	if c.under == nil {
		o.waiting = append(o.waiting, c)
	}
}

// ended judges what an acquire has returned. It reports whether the run ends.
func (o *oracle) ended(c *contender, lease *locks.Lease, err error) (ending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.waiting = slices.DeleteFunc(o.waiting, func(w *contender) bool { return w == c })
	if end, ok := c.ctx.Deadline(); ok && now.Sub(end) > returnBound {
		o.failLocked("%v has gone on for %v after its deadline", c, now.Sub(end))
	}
	if err == nil {
		c.lease, c.granted, c.inCalm = lease, now, o.calm
		o.logf("%v has %s", c, lease.Path())
		o.grantedLocked(c)
		o.holding = append(o.holding, c)
		return o.ending
	}
	o.refusedLocked(c, err)
	return false
}

func (o *oracle) refusedLocked(c *contender, err error) {
	o.logf("%v fails: %v", c, err)
	o.tally["gave up"]++
	if c.try {
		o.tally["refused"]++
	}
	switch {
	case errors.Is(err, framework.ErrOutcomeUnknown):
		o.failLocked("%v does not know its outcome: %v", c, err)
	case c.ctx.Err() != nil:
	case c.try:
		if o.calm && !errors.Is(err, locks.ErrNotAcquired) {
			o.failLocked("the try of %v fails: %v", c, err)
		}
	case c.under == nil || c.under.isLive():
		o.failLocked("%v gives up: %v", c, err)
	}
}

func (o *oracle) grantedLocked(c *contender) {
	o.tally["grants"]++
	if !c.isLive() {
		return
	}
	o.checkNodesLocked(c)
	o.checkExclusionLocked(c)
	reused := o.checkTurnsLocked(c)
	o.checkTokenLocked(c, reused)
	if c.under != nil {
		o.tally["downgraded"]++
		return
	}
	if o.calm {
		o.tally["calm"]++
		o.checkOrderLocked(c)
		o.checkFairnessLocked(c)
	}
}

// checkNodesLocked checks the nodes ahead. A node that was made after the grant has a
// larger number.
func (o *oracle) checkNodesLocked(c *contender) {
	path, queue := c.lease.Path(), o.head().Queue(o.path)
	own := slices.IndexFunc(queue, func(n zktest.Node) bool { return n.Path == path })
	if own < 0 {
		if c.isLive() && !o.isDisturbedLocked(c) {
			o.failLocked("%v has no node", c)
		}
		return
	}
	for _, n := range queue {
		blocks := numberOf(n.Path) < numberOf(path) && (!c.read || !strings.Contains(n.Path, readerNode))
		// In a storm, the client may not yet have deleted the node of a waiter that gave up.
		isLeftOver := !o.calm && n.Stat.EphemeralOwner == queue[own].Stat.EphemeralOwner
		if blocks && !isLeftOver {
			o.failLocked("%v has %s although %s is ahead", c, path, n.Path)
		}
	}
}

const readerNode = "__READ__"

// numberOf returns the number at the end of a node's name. All are equally long.
func numberOf(path string) string { return path[max(0, len(path)-10):] }

func (o *oracle) checkExclusionLocked(c *contender) {
	for _, h := range o.holding {
		if h != c.under && h.excludes(c) && h.isLive() && c.isLive() && !o.isDisturbedLocked(h) && !o.isDisturbedLocked(c) {
			o.failLocked("%v and %v have the lock", h, c)
		}
	}
	for _, k := range o.kept {
		mustStay := k.by.inCalm && !o.isDisturbedLocked(k.by) && !o.isRevokedLocked(k.by)
		if o.calm && mustStay && time.Now().Before(k.until) {
			o.failLocked("%v has the lock, which %v keeps until %v", c, k.by, k.until)
		}
	}
}

// isDisturbedLocked reports whether an operator may have deleted the contender's node.
func (o *oracle) isDisturbedLocked(c *contender) bool {
	return o.deleted[c.lease.Path()] || time.Since(o.expired[c.client]) < 2*oracleSession
}

func (o *oracle) isRevokedLocked(c *contender) bool { return o.revoked[c.lease.Path()] }

// checkTurnsLocked reports whether the node has had a lease before.
func (o *oracle) checkTurnsLocked(c *contender) (reused bool) {
	now, path := time.Now(), c.lease.Path()
	t := o.nodes[path]
	if t == nil {
		t = &turns{first: now}
		o.nodes[path] = t
	}
	if t.n++; t.n == 1 || c.read {
		return t.n > 1
	}
	o.tally["reused"]++
	allowed := o.clients[c.client]
	if t.n-1 > allowed.handOvers+allowed.cached {
		o.failLocked("%v is number %d of a node's holders", c, t.n)
	}
	if !slices.ContainsFunc(o.waiting, func(w *contender) bool { return w.client != c.client && !w.frontAt.IsZero() }) {
		return true
	}
	if t.passed++; t.passed > allowed.handOvers || now.Sub(t.first) > allowed.within {
		since := now.Sub(t.first)
		o.failLocked("%v is number %d in %v to reuse a node although other clients wait", c, t.passed, since)
	}
	return true
}

func (o *oracle) checkTokenLocked(c *contender, reused bool) {
	token := c.lease.FencingToken()
	isHandedOver := reused && token == o.writers
	switch {
	case o.isDisturbedLocked(c):
	case c.read && token < o.writers:
		o.failLocked("%v has token %#x after a writer with %#x", c, token, o.writers)
	case !c.read && !isHandedOver && token <= max(o.writers, o.readers):
		o.failLocked("%v has token %#x after %#x and %#x", c, token, o.writers, o.readers)
	}
	if c.read {
		o.readers = max(o.readers, token)
	} else {
		o.writers = max(o.writers, token)
	}
}

// checkOrderLocked checks that no waiter of the same line came before c.
func (o *oracle) checkOrderLocked(c *contender) {
	if c.try || c.arrival == 0 {
		return
	}
	for _, w := range o.waiting {
		if w.try || w.arrival == 0 || !w.sharesLine(c) || !w.excludes(c) || w.ctx.Err() != nil {
			continue
		}
		if o.tally["in order"]++; w.arrival < c.arrival {
			o.failLocked("%v passes %v, which came before it", c, w)
		}
	}
}

func (o *oracle) checkFairnessLocked(c *contender) {
	for _, w := range o.waiting {
		if w.try || w.frontAt.IsZero() || w.client == c.client || !w.excludes(c) || w.ctx.Err() != nil {
			continue
		}
		o.tally["passed"]++
		if c.read {
			granted := o.nodes[c.lease.Path()].first
			if since := time.Since(w.frontAt); c.arrival > w.behind && min(since, time.Since(granted)) > joinBound {
				o.failLocked("%v passes %v, which has been queued for %v", c, w, since)
			}
			continue
		}
		if w.passed[c.client]++; w.passed[c.client] > o.clients[c.client].turns {
			o.failLocked("client %d has passed %v %d times", c.client, w, w.passed[c.client])
		}
	}
}

// settled notes in a calm who is the first waiter of each client. That waiter has a
// node at the server. Settled must be called while all goroutines are idle.
func (o *oracle) settled() {
	o.mu.Lock()
	defer o.mu.Unlock()
	busy := map[int]bool{} // clients
	for _, h := range o.holding {
		busy[h.client] = true
	}
	for _, k := range o.kept {
		busy[k.by.client] = true
	}
	for client := range o.unseated {
		if !slices.ContainsFunc(o.waiting, func(w *contender) bool { return w.client == client }) {
			delete(o.unseated, client)
		}
	}
	for _, w := range o.waiting {
		if busy[w.client] || o.unseated[w.client] {
			w.frontAt = time.Time{}
		} else if w.frontAt.IsZero() {
			w.frontAt, w.behind, w.passed = time.Now(), o.arrived, map[int]int{}
		}
		busy[w.client] = true
	}
}

// stuck returns a waiter of a lock that is free for it, or nil. It must be called
// while all goroutines are idle.
func (o *oracle) stuck() *contender {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = slices.DeleteFunc(o.kept, func(k kept) bool {
		return o.isRevokedLocked(k.by) || o.deleted[k.by.lease.Path()] || time.Now().After(k.until)
	})
	isWriter := func(c *contender) bool { return !c.read }
	onlyReaders := !slices.ContainsFunc(o.holding, isWriter) && !slices.ContainsFunc(o.waiting, isWriter)
	if len(o.kept) > 0 || len(o.holding) > 0 && !onlyReaders {
		return nil
	}
	for _, w := range o.waiting {
		if !o.unseated[w.client] {
			return w
		}
	}
	return nil
}

// takes reports whether its caller must release a holder.
func (o *oracle) takes(c *contender) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	ok := !c.taken && !o.ending
	c.taken = c.taken || ok
	return ok
}

// releases takes a holder out, whose release is about to begin. It reports false if
// somebody else has released it.
func (o *oracle) releases(c *contender) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.holding)
	o.holding = slices.DeleteFunc(o.holding, func(h *contender) bool { return h == c })
	if len(o.holding) == before {
		return false
	}
	o.logf("%v releases, is live: %v", c, c.isLive())
	until := c.granted.Add(c.of.minimum)
	switch {
	case !c.isLive():
		o.tally["lost"]++
	case time.Now().Before(until):
		o.kept = append(o.kept, kept{c, until})
	}
	return true
}

// holders returns the holders that no call is about to release.
func (o *oracle) holders() []*contender {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.holding), func(h *contender) bool { return h.taken })
}

func (o *oracle) waiters() []*contender {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.waiting)
}

func (o *oracle) isCalm() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calm
}

// isFree reports whether a try must succeed. It must be called while all goroutines
// are idle.
func (o *oracle) isFree() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calm && len(o.waiting) == 0 && len(o.holding) == 0 && len(o.head().Children(o.path)) == 0
}

// operates notes what somebody does to nodes or sessions.
func (o *oracle) operates(what any, note func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	note()
	o.logf("an operator acts on %v", what)
}

// lostInCalm returns a holder that has lost its lock without a fault, or nil.
func (o *oracle) lostInCalm() *contender {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.holding {
		if h.inCalm && !h.isLive() && !o.isDisturbedLocked(h) && !o.isRevokedLocked(h) {
			return h
		}
	}
	return nil
}
