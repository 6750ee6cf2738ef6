package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/internal/order"
)

// semaphore has the nodes of a semaphore: its leases, and the contenders that wait
// at its gate. All children of the leases' node count.
type semaphore struct {
	Recipe
	leasesAt, gateAt string
	leases           []string
	gate             []order.Entry
	hidden           bool // the client may not list the gate

	limitAt string // the node with the limit, or "" if not known
	limitIn func(data []byte) (int, error)
}

// semaphoreAt returns the path of a semaphore if a node with these children is the
// semaphore itself or its folder of leases.
func semaphoreAt(path string, c *contents) (at string, ok bool) {
	if slices.Contains(c.dirs, leasesDir) {
		return path, true
	}
	at, isPart := strings.CutSuffix(path, "/"+leasesDir)
	return cmp.Or(at, "/"), isPart && len(c.lease) > 0
}

// findSemaphore finds one of Curator's semaphores, by its folders or at the folder of
// its leases. A semaphore without holders and waiters is not listed. Servers may have
// deleted an empty folder.
func (w *walk) findSemaphore(v *visit, c *contents) error {
	at, ok := semaphoreAt(v.path, c)
	if !ok {
		for _, e := range c.lease { // the node only has the name of a lease
			c.dirs = append(c.dirs, e.Node)
		}
		return nil
	}
	s := semaphore{
		Recipe:   Recipe{Path: v.path, Kind: Semaphore, Layout: curatorLayout},
		leasesAt: znode.Join(at, leasesDir), gateAt: znode.Join(at, gateDir),
		limitAt: w.sharedLimit(v.path), limitIn: sharedLimit,
	}
	leases, err := w.list(s.leasesAt)
	if err != nil || leases.hidden {
		return err
	}
	gate, err := w.list(s.gateAt)
	if err != nil {
		return err
	}
	s.leases, s.gate, s.hidden = leases.names, gate.mutex, gate.hidden
	switch {
	case len(s.leases)+len(s.gate) == 0:
		return w.checkFree(v, s, leases.changed)
	case len(s.leases) > 0 && len(leases.lease) == 0:
		return nil // not a semaphore
	case at != v.path:
		*c = contents{}
	default:
		c.dirs = slices.DeleteFunc(c.dirs, func(name string) bool {
			return name == leasesDir || name == gateDir && !s.hidden // a visit reports a hidden gate
		})
		others := slices.DeleteFunc(gate.names, func(name string) bool { return order.IsNode(name, mutexNode) })
		v.below = append(v.below, below(s.gateAt, others)...)
	}
	return w.readSemaphore(v, s)
}

// checkFree finds out whether a semaphore was free if both lists are empty. The
// contender at the gate may have taken a lease after the leases were listed, and
// left the gate before the gate was listed. Both were empty at one moment if no
// client has taken a lease by now.
func (w *walk) checkFree(v *visit, s semaphore, changed int64) error {
	now := int64(0)
	stat, err := w.stat(s.leasesAt)
	switch {
	case err == nil:
		now = stat.Pzxid
	case !reason.Is(err, zk.ErrNoNode):
		return err
	}
	if now != changed {
		s.MayBe = []Kind{semaphoreMutex, Mutex}
		v.note(s.Recipe, nil, 1)
	}
	return nil
}

// sharedLimit decodes the limit in a node of Java's SharedCount.
func sharedLimit(data []byte) (int, error) {
	limit, err := codec.Int32().Decode(data)
	return int(limit), err
}

// findKazooSemaphore finds a semaphore of kazoo: its leases are the children, its limit
// is the data, and its gate is a sibling lock.
func (w *walk) findKazooSemaphore(v *visit, c *contents) error {
	if len(c.hexes) == 0 || v.path == "/" {
		return nil
	}
	gateAt := v.path + kazooGateEnd
	gate, err := w.list(gateAt)
	if err != nil || gate.changed == 0 {
		return err
	}
	s := semaphore{
		Recipe:   Recipe{Path: v.path, Kind: Semaphore, Layout: kazooLayout},
		leasesAt: v.path, gateAt: gateAt, leases: c.hexes, gate: gate.kazoo,
		limitAt: v.path, limitIn: func(data []byte) (int, error) { return strconv.Atoi(string(data)) },
	}
	c.hexes = nil
	return w.readSemaphore(v, s)
}

// isGateBesideLeases reports whether a lock is the gate of a kazoo semaphore that is
// reported at the path of its leases.
func (w *walk) isGateBesideLeases(path string, l line) (bool, error) {
	at, isGate := strings.CutSuffix(path, kazooGateEnd)
	if !isGate || l.Layout != kazooLayout || path == w.root {
		return false, nil
	}
	leases, err := w.list(at)
	return len(leases.hexes) > 0, err
}

// readSemaphore reads the leases, the gate and the limit.
func (w *walk) readSemaphore(v *visit, s semaphore) error {
	leases, err := w.byCreation(s.leasesAt, s.leases)
	if err != nil {
		return err
	}
	gate, asked, err := w.contenders(s.gateAt, s.gate, w.most)
	if err != nil {
		return err
	}
	if s.limitAt != "" {
		data, err := w.dataIfAny(s.limitAt)
		if err != nil {
			return err
		}
		if limit, err := s.limitIn(data); err == nil { // otherwise the node does not exist or has other data
			s.Limit = &limit
		}
	}
	s.Unread = len(s.gate) - len(asked)
	s.admit(leases, gate, s.hidden)
	if s.Layout == curatorLayout {
		if s.sureHolders() < 2 && (s.Limit == nil || *s.Limit == 1) {
			s.MayBe = append(s.MayBe, semaphoreMutex)
		}
		if len(s.leases) == 0 {
			s.MayBe = append(s.MayBe, Mutex) // a mutex may have the gate's path
		}
	}
	v.note(s.Recipe, append(leases, gate...), len(s.leases)+len(s.gate))
	return nil
}

// admit separates held leases from waiting ones. As in Java, only the first contender
// at the gate may own leases that are not granted yet: such leases belong to its
// session and are newer than its node at the gate.
//
//   - The oldest leases are held, as many as the limit allows.
//   - A lease beyond the limit waits if it may not be granted yet. Any other lease
//     beyond the limit was granted before the limit was lowered, and is held.
//   - Without a limit, a lease that may not be granted yet is unsure.
//   - If the gate is hidden, these leases cannot be distinguished: all are unsure.
//   - If one of too many leases may not be read, the oldest are not known.
//   - Kazoo creates a lease only if one is free: all are held.
func (r *Recipe) admit(leases, gate []sighting, hidden bool) {
	hidden = hidden || len(gate) > 0 && gate[0].Czxid == 0
	byAge := !slices.ContainsFunc(leases, func(s sighting) bool { return s.Czxid == 0 })
	for i, lease := range leases {
		p := lease.Participant
		switch {
		case r.Layout == kazooLayout:
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
}
