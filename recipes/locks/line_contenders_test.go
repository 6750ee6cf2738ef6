package locks_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// policy is a set of options, and what it allows.
type policy struct {
	name      string
	mutex     []locks.MutexOption
	readWrite []locks.ReadWriteOption

	turns     int // of a client, while the first waiter of another one waits
	handOvers int
	within    time.Duration // for hand-overs
	cached    int           // uses of a node that needed no request
	minimum   time.Duration
	revocable bool
}

// allow adds what another set of options allows.
func (p *policy) allow(q *policy) {
	p.turns += nodesOfALine * (1 + q.handOvers)
	p.handOvers += q.handOvers
	p.within = max(p.within, q.within)
	p.cached += q.cached
}

var (
	handOver    = handingOver(2, 5*time.Second)
	cached      = idleFor(3, 5*time.Second)
	sharedReads = idleFor(20, 5*time.Second)

	mutexPolicies = []*policy{
		{name: "plain"},
		{name: "handed over", mutex: []locks.MutexOption{handOver}, handOvers: 2, within: 5 * time.Second},
		{name: "cached", mutex: []locks.MutexOption{cached}, cached: 3},
		{
			name: "cached and handed over", mutex: []locks.MutexOption{locks.WithReleasePolicy(locks.ReleasePolicy{
				MaxReuses: 2, HandOver: 5 * time.Second, Idle: 5 * time.Second,
			})},
			cached: 2, handOvers: 2, within: 5 * time.Second,
		},
		{name: "minimum", mutex: []locks.MutexOption{heldFor(2 * time.Second)}, minimum: 2 * time.Second},
		{name: "revocable", mutex: []locks.MutexOption{locks.WithRevocation()}, revocable: true},
	}
	readWritePolicies = []*policy{
		{name: "plain"},
		{name: "cached", readWrite: []locks.ReadWriteOption{sharedReads}},
		{name: "cached, too", readWrite: []locks.ReadWriteOption{sharedReads}},
		{name: "revocable", readWrite: []locks.ReadWriteOption{locks.WithRevocation()}, revocable: true},
	}
)

// machine is a client, and the objects that it uses the lock by.
type machine struct {
	*framework.Client
	host    *zktest.Host
	objects []object
}

// object is a mutex, or else a read/write lock.
type object struct {
	of    *policy
	mutex locks.Locker
	rw    *locks.InterProcessReadWriteLock
}

func (b *object) side(read bool) locks.Locker {
	switch {
	case b.rw == nil:
		return b.mutex
	case read:
		return b.rw.ReadLock()
	}
	return b.rw.WriteLock()
}

func newObject(c *framework.Client, of *policy, readWrite bool) object {
	if readWrite {
		return object{of: of, rw: locks.NewInterProcessReadWriteLock(c, lockPath, of.readWrite...)}
	}
	return object{of: of, mutex: locks.NewInterProcessMutex(c, lockPath, of.mutex...)}
}

// contender is an acquire, and then its lease.
type contender struct {
	id     int
	client int
	of     *policy
	side   func(read bool) locks.Locker // of the object
	read   bool
	try    bool
	under  *contender      // the writer whose lease a reader was acquired under
	ctx    context.Context // of the acquire
	cancel context.CancelFunc

	// These are protected by oracle.mu.
	arrival int         // the place among all that came in this calm; 0 for those that came before
	frontAt time.Time   // since when it is known to be the first of its client, which has not got the lock
	behind  int         // how many had arrived by then
	passed  map[int]int // how often each client has got the lock since then
	lease   *locks.Lease
	granted time.Time
	inCalm  bool // it was granted in a calm
	taken   bool // a call that is under way will release it
}

func (c *contender) String() string {
	kind := c.of.name
	if c.read {
		kind += " reader"
	}
	return fmt.Sprintf("%s %d of client %d", kind, c.id, c.client)
}

func (c *contender) excludes(d *contender) bool { return !c.read || !d.read }

// sharesLine reports whether the goroutines of two contenders wait in one line,
// whichever objects they use.
func (c *contender) sharesLine(d *contender) bool { return c.client == d.client && c.of == d.of }

func (c *contender) isLive() bool { return c.lease.Context().Err() == nil }
