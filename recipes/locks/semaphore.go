package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessSemaphore is a distributed semaphore: no more than its limit of leases are
// held at once, across every client of the ensemble. Acquires are served one after the
// other, in the order of an InterProcessMutex. An InterProcessSemaphore is safe for
// concurrent use. It is not re-entrant: each acquire takes its own leases.
//
// Java Curator's InterProcessSemaphoreV2 has the same nodes, so Java and Go processes can
// share a semaphore. The leases are the nodes below path/leases, and all of them count.
// The mutex of the acquires is at path/locks.
//
// As with InterProcessMutex, the goroutines of a client share one node at path/locks,
// whichever object they call.
type InterProcessSemaphore struct {
	gate   seat.Lock // its holder takes leases, and all other acquires wait for it
	leases seat.Lock
	limit  SemaphoreLimit
}

const leaseKind = "lease-"

// NewInterProcessSemaphore returns the semaphore with this path and limit. It does not
// contact the server. If the client is nil, or the path, the limit or an option is
// invalid, every acquire returns an error.
func NewInterProcessSemaphore(
	c *framework.Client, path string, limit SemaphoreLimit, opts ...Option,
) *InterProcessSemaphore {
	return newSemaphore(c, path, limit, locktrace.RecipeSemaphore, opts)
}

func newSemaphore(
	c *framework.Client, path string, limit SemaphoreLimit, recipe string, opts []Option,
) *InterProcessSemaphore {
	options := optionsOf(opts, Option.applyToAny)
	if limit.limit == nil {
		limit = Limit(0)
	}
	atGate := options
	atGate.Revocable = false // a Revoke is for the holders of leases, not for the acquire at the gate
	return &InterProcessSemaphore{
		gate: *seat.New(seat.Config{
			Client: c, Path: below(path, "locks"), Kind: mutexKind, Op: "acquire", Name: path,
			Blocks:      order.Exclusive,
			Waits:       true,
			Recipe:      recipe,
			NotAcquired: notAcquired,
			Options:     atGate,
		}),
		leases: *seat.New(seat.Config{
			Client: c, Path: below(path, "leases"), Kind: leaseKind, Op: "acquire", Name: path,
			Recipe:      recipe,
			NotAcquired: notAcquired,
			Options:     options,
		}),
		limit: limit,
	}
}

// below returns the path of one of a semaphore's nodes. An empty path stays empty, so
// that every call returns its error.
func below(path, name string) string {
	if path == "" {
		return ""
	}
	return znode.Join(path, name)
}

// Acquire waits for one lease; see AcquireN.
func (s *InterProcessSemaphore) Acquire(ctx context.Context) (*Lease, error) {
	return s.acquire(ctx, 1, true)
}

// TryAcquire is Acquire without waiting for other contenders. It returns a
// *NotAcquiredError if no lease is free. It also does so while another acquire takes
// leases and waits for the server's reply. A try that first reads the queue, as
// InterProcessMutex.TryAcquire describes, also reads a shared limit.
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	return s.acquire(ctx, 1, false)
}

// AcquireN waits for n leases and returns them as one Lease. AcquireN gets all n leases
// or none, and holds them until the Lease is released. The context of the Lease ends if
// any lease is lost. No other acquire is served meanwhile, so two acquires of several
// leases cannot block each other with a part of what both need. Asking for more than a
// fixed limit returns an error that matches zk.ErrBadArguments. With a shared limit,
// AcquireN waits until the limit is raised. If ctx ends meanwhile, the error is a
// *NotAcquiredError that names the limit.
//
// When the leases are free, one transaction takes all of them. A transaction has room for
// some thousands of leases. If n is larger, the error matches framework.ErrRequestTooLarge
// once n leases are free.
//
// Java queues separately for each of several leases. A Java acquire that has a part of
// its leases and an AcquireN may wait for each other until one gives up: let only one
// language take several leases, or make the limit high enough for all of them.
//
// Contexts, interruptions and errors are as in InterProcessMutex.Acquire.
func (s *InterProcessSemaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	return s.acquire(ctx, n, true)
}

// TryAcquireN is AcquireN without waiting for other contenders.
func (s *InterProcessSemaphore) TryAcquireN(ctx context.Context, n int) (*Lease, error) {
	return s.acquire(ctx, n, false)
}

// Do acquires one lease, calls f as InterProcessMutex.Do does, and releases the lease.
func (s *InterProcessSemaphore) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, s, f)
}

// Participants returns the leases, in the order in which they were taken.
// Participant.Holder is true for the leases within the limit. A lease beyond the limit
// belongs to a waiting Java process, or was taken before the limit was lowered. Waiting
// contenders of this library are not in the list. Package inspect lists them: see
// inspect.Walk, with inspect.WithSharedLimits.
func (s *InterProcessSemaphore) Participants(ctx context.Context) ([]Participant, error) {
	if err := s.leases.Usable(); err != nil {
		return nil, s.leases.ErrorOf("participants", err)
	}
	n, err := s.limit.look(ctx, s.leases.Client())
	if err != nil {
		return nil, err
	}
	return participantsOf(s.leases.ParticipantsWhere(ctx, func(all []order.Entry) []bool {
		holders := make([]bool, len(all))
		for i := range min(n, len(all)) {
			holders[i] = true
		}
		return holders
	}))
}

func (s *InterProcessSemaphore) describe(wait bool) locktrace.Acquire { return s.leases.Describe(wait) }

func (s *InterProcessSemaphore) acquire(ctx context.Context, n int, wait bool) (*Lease, error) {
	if err := s.leases.Ready(ctx); err != nil {
		return nil, s.leases.OpError(err)
	}
	if err := s.limit.check(n); err != nil {
		return nil, s.leases.OpError(err)
	}
	what := s.describe(wait)
	what.Leases = n
	return leaseOf(seat.Traced(ctx, what, func(ctx context.Context, a seat.Attempt) (*seat.Hold, error) {
		return s.win(ctx, a, n)
	}))
}

// win passes the gate and takes n leases.
func (s *InterProcessSemaphore) win(ctx context.Context, a seat.Attempt, n int) (*seat.Hold, error) {
	if !a.Wait {
		if err := s.refuseTry(ctx, a, n); err != nil {
			return nil, err
		}
	}
	vanished := pauses.Vanished()
	for {
		c, err := s.winOnce(ctx, a, n)
		if err != nil {
			seat.AwaitDeadline(ctx)
		}
		if c != nil || err != nil {
			return c, err
		}
		_ = follow.Pause(ctx, s.leases.Client(), &vanished) // if ctx has ended, the next attempt returns its error
	}
}

// winOnce returns nil and no error if it must be repeated. It waits for the release of
// the gate: otherwise the node would block the next attempt.
func (s *InterProcessSemaphore) winOnce(ctx context.Context, a seat.Attempt, n int) (h *seat.Hold, err error) {
	gate, err := s.passGate(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { gate.Release(seat.UnlessDown(ctx, err)) }()
	return s.take(ctx, gate, n, a)
}

// passGate waits for this acquire's turn at the gate.
func (s *InterProcessSemaphore) passGate(ctx context.Context, a seat.Attempt) (*seat.Lease, error) {
	if err := s.gate.Ready(ctx); err != nil {
		return nil, s.gate.OpError(err)
	}
	h, err := s.gate.Win(ctx, a)
	if err != nil {
		return nil, err
	}
	return h.LeaseOf(ctx), nil
}

// take takes n leases while this acquire holds the gate. If the gate or the session is
// lost meanwhile, it returns nil and no error.
func (s *InterProcessSemaphore) take(
	ctx context.Context, gate *seat.Lease, n int, a seat.Attempt,
) (h *seat.Hold, err error) {
	under, done := gate.WithContext(ctx)
	defer done()
	asked := &leasesAsked{n: n}
	h, refusal := seat.Turn{Of: &s.leases, Gate: gate.Hold(), Open: under, Wanted: s.wanted(asked)}.Take(ctx, a)
	if refusal != nil {
		gateClosed := gate.Context().Err() != nil
		if gateClosed && ctx.Err() != nil {
			under, gateClosed, refusal.Err = ctx, false, reason.OfContext(ctx)
		}
		if reason.Is(refusal.Err, seat.ErrTurnOver) || gateClosed {
			return nil, nil
		}
		return nil, s.refuse(under, refusal, asked)
	}
	return h, nil
}

// refuseTry is for an attempt that does not wait. If the last attempt has failed,
// refuseTry reads the leases and refuses the attempt if they are taken. It returns nil if
// the attempt should pass the gate.
func (s *InterProcessSemaphore) refuseTry(ctx context.Context, a seat.Attempt, n int) error {
	asked := &leasesAsked{n: n}
	refusal := s.leases.RefuseTry(ctx, s.wanted(asked), a)
	if refusal == nil {
		return nil
	}
	return s.refuse(ctx, refusal, asked)
}

// leasesAsked is how many leases an acquire asks for, and the limit that it has read.
type leasesAsked struct {
	n, limit  int
	limitRead bool
}

func (s *InterProcessSemaphore) wanted(asked *leasesAsked) seat.Wanted {
	return seat.Wanted{N: asked.n, Limit: func(ctx context.Context, watch bool) (int, *framework.Watch, error) {
		n, changed, err := s.limit.read(ctx, s.leases.Client(), watch)
		if err == nil {
			asked.limit, asked.limitRead = n, true
		}
		return n, changed, err
	}}
}

// tooLow reports whether the limit is too low, even if all leases were free.
func (l *leasesAsked) tooLow() bool { return l.limitRead && l.n > l.limit }

// refuse returns the error of an acquire that did not get its leases.
func (s *InterProcessSemaphore) refuse(ctx context.Context, r *seat.NotAdmitted, asked *leasesAsked) error {
	seen := !r.Seen.IsZero()                                  // this attempt has read the leases
	if asked.tooLow() && (r.Err == nil || ctx.Err() != nil) { // ctx may end a moment after its copy
		return s.leases.RefuseLimit(r, asked.n, asked.limit)
	}
	err := s.leases.Refuse(ctx, r)
	if asked.limitRead && seen {
		err = noteLeases(err, asked.n, asked.limit)
	}
	return err
}
