package recipes

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// InterProcessSemaphore is a distributed semaphore: no more than its limit of leases are held at once, across every
// client of the ensemble. Acquires are served one after the other, in the order of their arrival. It is safe for
// concurrent use, and it is not re-entrant: each acquire takes leases of its own.
//
// Its nodes are those of Java Curator's InterProcessSemaphoreV2, with which a Go process may share a semaphore: the
// leases below path/leases, all of which count, and below path/locks the mutex of those who acquire. Every process must
// use the same limit: nobody checks.
//
// As with InterProcessMutex, all objects of one client and one path share a queue in
// the process: however many goroutines want leases, two of them are at path/locks.
type InterProcessSemaphore struct {
	gate   lock // whose holder takes leases; all others wait there
	leases lock
	limit  limit
}

const leaseKind = "lease-"

// NewInterProcessSemaphore returns the semaphore with this path and limit. It does not contact the server: what cannot be
// used is an error of every acquire. With the option WithSharedLimit, the limit is only that which the shared one begins with.
func NewInterProcessSemaphore(c *framework.Client, path string, limit int, opts ...LockOption) *InterProcessSemaphore {
	s := &InterProcessSemaphore{limit: fixedLimit(limit)}
	s.leases = newLock(c, lockloop.Join(path, "leases"), leaseKind, []string{leaseKind}, nil, opts, forSemaphores)
	if shared := s.leases.cfg.sharedLimit; shared != "" {
		s.limit = &sharedLimit{c, shared, limit}
	}
	s.leases.loop.Limit = 0 // is about those who wait, and they wait at the gate
	s.gate = newLock(c, lockloop.Join(path, "locks"), mutexKind, []string{mutexKind}, lockloop.Exclusive, opts, forGates)
	s.gate.local = localKeyOf(&s.gate)
	s.gate.name, s.leases.name = path, path
	return s
}

// Acquire waits for one lease; see AcquireN.
func (s *InterProcessSemaphore) Acquire(ctx context.Context) (*Lease, error) {
	return s.acquire(ctx, 1, true)
}

// TryAcquire is Acquire without waiting for others. It returns a *NotAcquiredError if no lease is free, and also if
// somebody else is just acquiring one.
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	return s.acquire(ctx, 1, false)
}

// AcquireN waits for n leases and returns them as one, which holds them all until it is released: all or none of them.
// Its context ends if any of them is lost. Nobody else is served meanwhile, so that two who want several cannot wait for
// each other, each with a part of what both need. To ask for more than a fixed limit is zk.ErrBadArguments; with a shared
// limit, it waits for that to be raised. If ctx ends meanwhile, the error is a *NotAcquiredError that names the limit.
//
// Java queues again for each of several leases. If it has a part of what it needs, it and an AcquireN may wait for each
// other until one gives up: let only one language take several, or have leases enough for all who do.
//
// Contexts, interruptions and errors are as in InterProcessMutex.Acquire.
func (s *InterProcessSemaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	return s.acquire(ctx, n, true)
}

// TryAcquireN is AcquireN without waiting for others.
func (s *InterProcessSemaphore) TryAcquireN(ctx context.Context, n int) (*Lease, error) {
	return s.acquire(ctx, n, false)
}

// Do acquires one lease, calls f as InterProcessMutex.Do does, and releases it.
func (s *InterProcessSemaphore) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, s, f)
}

// Participants returns the leases, in the order in which they were taken. Those beyond the limit are waited for by
// somebody, or were taken before it was lowered. Who waits for his turn to take leases is not among them.
func (s *InterProcessSemaphore) Participants(ctx context.Context) ([]Participant, error) {
	if err := s.leases.usable(); err != nil {
		return nil, s.leases.opError(err)
	}
	n, err := s.limit.look(ctx)
	if err != nil {
		return nil, err
	}
	return s.leases.participantsOf(ctx, func(queue []lockloop.Contender) []bool {
		holders := make([]bool, len(queue))
		for i := range min(n, len(queue)) {
			holders[i] = true
		}
		return holders
	})
}

func (s *InterProcessSemaphore) acquire(ctx context.Context, n int, wait bool) (*Lease, error) {
	if err := s.leases.ready(ctx); err != nil {
		return nil, s.leases.opError(err)
	}
	if err := s.limit.check(n); err != nil {
		return nil, s.leases.opError(err)
	}
	what := s.leases.describe(wait)
	what.Leases = n
	return traced(ctx, what, func(ctx context.Context, a attempt) (*hold, error) { return s.win(ctx, a, n) })
}

// win passes the gate and takes n leases.
func (s *InterProcessSemaphore) win(ctx context.Context, a attempt, n int) (*hold, error) {
	for {
		if h, err := s.winOnce(ctx, a, n); h != nil || err != nil {
			return h, err
		}
	}
}

// winOnce returns nothing if it has to be done again.
func (s *InterProcessSemaphore) winOnce(ctx context.Context, a attempt, n int) (h *hold, err error) {
	gate, err := s.passGate(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { gate.Release(unlessDown(ctx, err)) }() // or our own gate would be in the way of who tries next
	return s.take(ctx, gate, n, a)
}

func (s *InterProcessSemaphore) passGate(ctx context.Context, a attempt) (*Lease, error) {
	if err := s.gate.ready(ctx); err != nil {
		return nil, s.gate.opError(err)
	}
	h, err := s.gate.win(ctx, a)
	if err != nil {
		return nil, err
	}
	return h.newLease(ctx), nil
}

// take creates leases at the open gate until there are n. It returns nothing if the gate closed meanwhile, the session
// ended, or one of the leases was deleted: others may have its place then.
func (s *InterProcessSemaphore) take(ctx context.Context, gate *Lease, n int, a attempt) (*hold, error) {
	under, done := gate.Under(ctx)
	defer done()
	leases := s.leases.inQueue(a)
	limit := &seenLimit{limit: s.limit}
	leases.loop.Fits = limit.fits
	nodes, refusal := s.collect(ctx, under, leases, n, a.wait)
	if refusal != nil {
		if errors.Is(refusal.Err, lockloop.ErrIncomplete) || gate.Context().Err() != nil && ctx.Err() == nil {
			return nil, nil
		}
		if limit.tooLow(n) && (refusal.Err == nil || ctx.Err() != nil) {
			return nil, limit.refused(&leases, refusal, n)
		}
		return nil, leases.refused(under, refusal)
	}
	// newHold looks at the session of the first lease. That is the oldest, and its
	// session is over if another lease is of a later one.
	h := newHold(s.leases.loop.Client, s.leases.key, s.leases.cfg.revocable, nodes...)
	if h == nil {
		a.trace.distrusted(s.leases.loop.Client, nodes[0])
	}
	return h, nil
}

// collect creates n leases, or none: what was created is deleted after a refusal, and if the user's code panics.
func (s *InterProcessSemaphore) collect(ctx, under context.Context, leases lock, n int, wait bool) (nodes []framework.Created, refusal *lockloop.Refusal) {
	defer func() {
		switch {
		case refusal != nil:
			s.putBack(unlessDown(ctx, refusal.Err), nodes)
			withoutOurs(refusal, nodes)
		case len(nodes) < n:
			s.putBack(ctx, nodes)
		}
	}()
	for len(nodes) < n {
		node, refusal := leases.queue(under, wait)
		if refusal != nil {
			return nodes, refusal
		}
		nodes = append(nodes, node)
		leases.loop.Beside = append(leases.loop.Beside, path.Base(node.Path))
	}
	return nodes, nil
}

// putBack deletes the leases of an attempt that has failed, before anybody else may try.
func (s *InterProcessSemaphore) putBack(ctx context.Context, nodes []framework.Created) {
	for _, node := range nodes {
		lockloop.Discard(ctx, s.leases.loop.Client, node.Path)
	}
}

// withoutOurs takes what we had ourselves out of a refusal: it is not ahead of us.
func withoutOurs(r *lockloop.Refusal, nodes []framework.Created) {
	r.Ahead = max(r.Ahead-len(nodes), 0)
	for _, node := range nodes {
		if path.Base(node.Path) == r.Holder {
			r.Holder, r.HolderData, r.HolderSession, r.HolderSince = "", nil, 0, time.Time{}
		}
	}
}

// InterProcessSemaphoreMutex is an InterProcessSemaphore with one lease: a mutex that is not re-entrant, with the nodes of
// Java Curator's InterProcessSemaphoreMutex.
type InterProcessSemaphoreMutex struct{ semaphore *InterProcessSemaphore }

// NewInterProcessSemaphoreMutex returns the mutex with this path.
func NewInterProcessSemaphoreMutex(c *framework.Client, path string, opts ...LockOption) *InterProcessSemaphoreMutex {
	s := NewInterProcessSemaphore(c, path, 1, opts...)
	s.leases.cfg.recipe = RecipeSemaphoreMutex
	return &InterProcessSemaphoreMutex{s}
}

// Acquire waits for the mutex. Under the context of its own lease it waits for itself, until ctx ends.
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return orZero(m.semaphore).Acquire(ctx)
}

// TryAcquire is that of InterProcessSemaphore.
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return orZero(m.semaphore).TryAcquire(ctx)
}

// Do is that of InterProcessMutex.
func (m *InterProcessSemaphoreMutex) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return orZero(m.semaphore).Do(ctx, f)
}
