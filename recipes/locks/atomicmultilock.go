package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// NewAtomicMultiLock returns the lock that consists of the mutexes with these
// paths. One transaction enters all their queues, and another one releases all.
// A path that is there more than once is taken once. It does not contact the
// server: a client, a path or an option that cannot be used is an error of every
// acquire.
//
// Those who take some of the same mutexes in this way cannot wait for each other,
// in whatever order they name the paths: of two, the same one is ahead in every
// queue. That does not hold beside contenders that have one of the mutexes and
// then ask for another, such as a multi-lock of SortedMutexes, Java, or an acquire
// under a lease of one of them. Such a contender may be ahead in one queue and
// behind in the next, and then both wait until a context ends. Contenders for one
// of the mutexes alone do no harm.
//
// It costs three requests, where an InterProcessMultiLock of mutexes costs three for
// each. With servers before 3.9 it costs two, and one for each mutex. But it has its
// place in all queues while it waits for the last of them: those behind it wait, too,
// also for mutexes that nobody holds. The goroutines of a client do not queue for it
// in the process: each that waits has its nodes at the server, and lists all queues
// when it comes. So the work that n goroutines make grows with n times n. For
// hundreds of them, have one mutex around it, in the process.
//
// A proxy may hang up on the request that lists several queues. That interrupts the
// connection of the client, which ends all of its leases under state.StandardPolicy;
// see [framework.Extension.MultiRead].
//
// An acquire under the context of a lease of some of the mutexes re-enters these,
// and takes the others by a transaction. All mutexes of a transaction have the
// same fencing token. A lease has its mutexes in the order of the paths.
//
// A transaction has room for about as many paths as fit into a megabyte with the
// data of their nodes. For more, the error matches framework.ErrRequestTooLarge.
func NewAtomicMultiLock(c *framework.Client, paths []string, opts ...Option) *InterProcessMultiLock {
	l := &InterProcessMultiLock{atomic: &atomicLocks{client: c}}
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		m := NewInterProcessMutex(c, path, mutexOptions(opts)...)
		l.locks = append(l.locks, m)
		l.atomic.queues = append(l.atomic.queues, &m.queue)
	}
	return l
}

func mutexOptions(opts []Option) (all []MutexOption) {
	for _, o := range opts {
		all = append(all, o)
	}
	return all
}

// atomicLocks are mutexes at different paths that are taken by one transaction.
type atomicLocks struct {
	client *framework.Client
	queues []*queue.Queue
}

// begin begins an attempt, for those mutexes that ctx does not hold already.
func (l *atomicLocks) begin(ctx, during context.Context, places *queue.Several) (*claim.Lease, []Locker, error) {
	places.Begin(nil)
	all := claim.Together(ctx, l.client)
	var parts []Locker
	var wanted []*queue.Queue
	for _, q := range l.queues {
		if err := q.Ready(during); err != nil {
			return all, nil, q.OpError(err)
		}
		parts = append(parts, placed{q, places})
		if !claim.FromContext(during, q.Key()).HasShares() {
			wanted = append(wanted, q)
		}
	}
	places.Begin(wanted)
	return all, parts, nil
}

// placed is a mutex that is acquired in its place among several.
type placed struct {
	queue  *queue.Queue
	places *queue.Several
}

// Acquire re-enters, or waits in its place.
func (p placed) Acquire(ctx context.Context) (*Lease, error) { return leaseOf(p.acquire(ctx, true)) }

// TryAcquire re-enters, or looks at its place.
func (p placed) TryAcquire(ctx context.Context) (*Lease, error) {
	return leaseOf(p.acquire(ctx, false))
}

func (p placed) acquire(ctx context.Context, wait bool) (*claim.Lease, error) {
	if lease, err := p.queue.Reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	return p.places.Acquire(ctx, p.queue, wait)
}
