package inspect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// semaphoreParts are the nodes of one of Curator's semaphores: its leases, and
// those that wait at its gate. All children of the leases' node count.
type semaphoreParts struct {
	path     string // the semaphore's path
	leasesAt string
	gateAt   string
	names    []string // the leases' names
	gate     []lockloop.Entry
	gateOnly bool // no child has the name of a lease
	hidden   bool // the gate may not be listed, or its path is not known
}

// findSemaphore finds one of Curator's semaphores. One that nobody holds or
// waits for is not there. Servers may have deleted a folder that was empty.
func (w *walk) findSemaphore(v *visit, c *contents) error {
	if !slices.Contains(c.dirs, leasesDir) {
		return nil
	}
	s := semaphoreParts{
		path: v.path, leasesAt: znode.Join(v.path, leasesDir), gateAt: znode.Join(v.path, gateDir),
	}
	leases, hidden, err := w.listedIfAllowed(s.leasesAt)
	if err != nil || hidden {
		return err
	}
	gate, hidden, err := w.listedIfAllowed(s.gateAt)
	if err != nil {
		return err
	}
	s.hidden = hidden
	parts := []string{leasesDir, gateDir}
	if gate == nil { // it is gone, or a visit reports that it cannot be read
		gate, parts = &contents{}, parts[:1]
	}
	if leases == nil {
		leases = &contents{}
	}
	s.names, s.gate = leases.names, gate.mutex
	s.gateOnly = len(leases.lease) == 0
	switch {
	case s.gateOnly && len(leases.names) > 0:
		return nil // no semaphore
	case s.gateOnly && len(gate.mutex) == 0:
		return w.checkFree(v, s, leases)
	}
	c.dirs = slices.DeleteFunc(c.dirs, func(name string) bool { return slices.Contains(parts, name) })
	v.below = append(v.below, paths(s.gateAt, gate.allBut(gate.mutex))...)
	return w.lookAtSemaphore(v, s)
}

// checkFree finds out whether a semaphore was free if both lists are empty. Who
// was at the gate may have taken a lease behind the list of leases, and left the
// gate ahead of its list. Both were empty at one moment if nobody has taken a
// lease by now.
func (w *walk) checkFree(v *visit, s semaphoreParts, leases *contents) error {
	stat, err := w.stat(s.leasesAt)
	if err != nil || stat == nil && leases.changed == 0 || stat != nil && stat.Pzxid == leases.changed {
		return err
	}
	v.gone = append(v.gone, Recipe{
		Path: s.path, Kind: Semaphore, Layout: Curator, MayBe: []Kind{SemaphoreMutex, Mutex}, Unread: 1,
	})
	return nil
}

// findLeases finds the leases of one of Curator's semaphores below a walk's
// root that is inside the semaphore.
func (w *walk) findLeases(v *visit, c *contents) error {
	if len(c.lease) == 0 {
		return nil
	}
	s := semaphoreParts{path: v.path, leasesAt: v.path, hidden: true}
	for _, e := range c.lease {
		s.names = append(s.names, e.Node)
	}
	if parent, isPart := strings.CutSuffix(v.path, "/"+leasesDir); isPart {
		s.gateAt = znode.Join(parent, gateDir)
		gate, hidden, err := w.listedIfAllowed(s.gateAt)
		if err != nil {
			return err
		}
		if s.hidden = hidden; gate != nil {
			s.gate = gate.mutex
		}
	}
	return w.lookAtSemaphore(v, s)
}

// listed returns the contents of a node, or nil if it is gone, or may not be
// listed. It is visited like others then.
func (w *walk) listed(path string) (*contents, error) {
	c, _, err := w.listedIfAllowed(path)
	return c, err
}

// listedIfAllowed is like listed, and reports whether the node may not be
// listed.
func (w *walk) listedIfAllowed(path string) (c *contents, forbidden bool, err error) {
	names, stat, err := w.children(path)
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return nil, false, nil
	case reason.Is(err, zk.ErrNoAuth):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	all := sortOut(names)
	all.changed = stat.Pzxid
	return &all, false, nil
}

// lookAtSemaphore reads the leases and the gate.
func (w *walk) lookAtSemaphore(v *visit, s semaphoreParts) error {
	if !w.wants(Semaphore, SemaphoreMutex, Mutex) {
		w.passByLeases(v, s.leasesAt, s.names)
		v.passBy(s.gateAt, s.gate)
		return nil
	}
	r := Recipe{Path: s.path, Kind: Semaphore, Layout: Curator}
	leases, err := w.byCreation(s.leasesAt, s.names)
	if err != nil {
		return err
	}
	gate, unread, err := w.participants(s.gateAt, s.gate, w.most)
	if err != nil {
		return err
	}
	if r.Limit, err = w.sharedLimitOf(s.path); err != nil {
		return err
	}
	r.Unread = unread
	r.admit(leases, gate, s.hidden)
	if r.sureHolders() < 2 && (r.Limit == nil || *r.Limit == 1) {
		r.MayBe = append(r.MayBe, SemaphoreMutex)
	}
	if s.gateOnly {
		r.MayBe = append(r.MayBe, Mutex) // a mutex may have the gate's path
	}
	r.cut(w.most)
	v.note(r, append(leases, gate...), len(s.names)+len(s.gate))
	return nil
}

// sureHolders counts the holders that surely hold.
func (r *Recipe) sureHolders() (n int) {
	for _, p := range r.Holders {
		if !p.Unsure {
			n++
		}
	}
	return n
}

// admit tells the leases that are held from those that wait. Only the first at
// the gate may have leases that it has not been granted yet, as in Java: they are
// of its session, and newer than its node at the gate.
//
//   - As many leases as the limit allows are held, the oldest first.
//   - A lease beyond the limit waits if it may be one that is not granted.
//     Others were granted before the limit was lowered, and are held.
//   - Without a limit, a lease that may not be granted yet is unsure.
//   - If the gate is hidden, nothing tells these leases apart: all are unsure.
//   - If one of too many leases may not be read, nobody knows which are the oldest.
func (r *Recipe) admit(leases, gate []sighting, hidden bool) {
	hidden = hidden || len(gate) > 0 && gate[0].Czxid == 0
	byAge := !slices.ContainsFunc(leases, func(s sighting) bool { return s.Czxid == 0 })
	for i, lease := range leases {
		p := lease.Participant
		switch {
		case r.Limit != nil && (len(leases) <= *r.Limit || byAge && i < *r.Limit):
		case hidden || p.Czxid == 0 && len(gate) > 0:
			p.Unsure = true
		case len(gate) > 0 && p.Session == gate[0].Session && p.Czxid > gate[0].Czxid:
			if r.Limit != nil && byAge {
				r.Waiters = append(r.Waiters, p)
				continue
			}
			p.Unsure = true
		}
		r.Holders = append(r.Holders, p)
	}
	for _, waiter := range gate {
		r.Waiters = append(r.Waiters, waiter.Participant)
	}
	r.number()
}

// number sets the positions.
func (r *Recipe) number() {
	for i := range r.Holders {
		r.Holders[i].Position = i
	}
	for i := range r.Waiters {
		r.Waiters[i].Position = len(r.Holders) + i
	}
}

// cut leaves no more participants than most.
func (r *Recipe) cut(most int) {
	if n := len(r.Holders) + len(r.Waiters) - most; n > 0 {
		r.Unread += n
		r.Holders = r.Holders[:min(len(r.Holders), most)]
		r.Waiters = r.Waiters[:max(0, min(len(r.Waiters), most-len(r.Holders)))]
	}
}

// sharedLimitOf reads the limit of a semaphore, if the caller has told where it
// is. The result is nil if it is not known.
func (w *walk) sharedLimitOf(semaphore string) (*int, error) {
	path := w.sharedLimit(semaphore)
	if path == "" {
		return nil, nil
	}
	data, err := w.dataOrNothing(path)
	if err != nil {
		return nil, err
	}
	count, err := codec.Int32().Decode(data)
	if err != nil {
		return nil, nil // not known: there is no node, or it has other data
	}
	limit := int(count)
	return &limit, nil
}

// dataOrNothing returns nil for a node that is gone, or may not be read.
func (w *walk) dataOrNothing(path string) ([]byte, error) {
	data, _, err := w.data(w.ctx, path)
	if reason.Is(err, zk.ErrNoNode) || reason.Is(err, zk.ErrNoAuth) {
		return nil, nil
	}
	return data, err
}

// findKazooSemaphore finds a semaphore of kazoo: its leases are the children,
// its limit is the data, and its gate is a lock beside it.
func (w *walk) findKazooSemaphore(v *visit, c *contents) error {
	if len(c.hexes) == 0 || v.path == "/" {
		return nil
	}
	gateAt := v.path + kazooGateEnd
	gate, err := w.listed(gateAt)
	if err != nil || gate == nil {
		return err
	}
	hexes := c.hexes
	c.hexes = nil
	if !w.wants(Semaphore) {
		w.passByLeases(v, v.path, hexes)
		return nil
	}
	leases, err := w.byCreation(v.path, hexes)
	if err != nil {
		return err
	}
	waiting, unread, err := w.participants(gateAt, gate.kazoo, w.most)
	if err != nil {
		return err
	}
	r := Recipe{Path: v.path, Kind: Semaphore, Layout: Kazoo, Unread: unread}
	data, err := w.dataOrNothing(v.path)
	if err != nil {
		return err
	}
	r.admit(leases, waiting, false)
	for i := range r.Holders {
		r.Holders[i].Unsure = false // kazoo makes leases only when they are free
	}
	if limit, err := strconv.Atoi(string(data)); err == nil {
		r.Limit = &limit
	}
	r.cut(w.most)
	v.note(r, append(leases, waiting...), len(hexes)+len(gate.kazoo))
	return nil
}

// isGateBesideLeases reports whether a lock is the gate of a semaphore of kazoo
// that is reported where its leases are.
func (w *walk) isGateBesideLeases(path string, q queue) (bool, error) {
	semaphore, isGate := strings.CutSuffix(path, kazooGateEnd)
	if !isGate || q.Layout != Kazoo || path == w.root {
		return false, nil
	}
	leases, err := w.listed(semaphore)
	return leases != nil && len(leases.hexes) > 0, err
}

// findLockingQueue finds a LockingQueue of kazoo: its items, and those that
// work on one.
func (w *walk) findLockingQueue(v *visit, c *contents) error {
	if !slices.Contains(c.dirs, entriesDir) || !slices.Contains(c.dirs, takenDir) || !w.wants(Queue) {
		return nil
	}
	entries, err := w.listed(znode.Join(v.path, entriesDir))
	if err != nil || entries == nil {
		return err
	}
	taken, err := w.listed(znode.Join(v.path, takenDir))
	if err != nil || taken == nil || len(entries.items)+len(taken.items) == 0 {
		return err
	}
	workers, err := w.byCreation(znode.Join(v.path, takenDir), taken.items)
	if err != nil {
		return err
	}
	inner := &visit{path: znode.Join(v.path, entriesDir)}
	if err := w.findQueue(inner, entries); err != nil {
		return err
	}
	r := Recipe{Kind: Queue, Layout: Kazoo}
	if len(inner.recipes) > 0 {
		r = inner.recipes[0]
	}
	r.Path = v.path
	r.admit(workers, nil, false)
	r.cut(w.most)
	v.note(r, workers, len(taken.items))
	for at, c := range map[string]*contents{inner.path: entries, znode.Join(v.path, takenDir): taken} {
		v.below = append(v.below, paths(at, append(c.hexes, c.dirs...))...)
	}
	c.dirs = slices.DeleteFunc(c.dirs, func(name string) bool { return name == entriesDir || name == takenDir })
	return nil
}
