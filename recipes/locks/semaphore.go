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

// InterProcessSemaphore is a distributed semaphore: no more than its limit of
// leases are held at once, across every client of the ensemble. Acquires are
// served one after the other, in the order of an InterProcessMutex. It is safe for
// concurrent use, and it is not re-entrant: each acquire takes leases of its
// own.
//
// Java Curator's InterProcessSemaphoreV2 has the same nodes, so Java and Go
// processes may share a semaphore. The leases are below path/leases, and all of
// them count. The mutex of the acquires is at path/locks.
//
// As with InterProcessMutex, the goroutines of a client share one node at path/locks,
// whichever object they call.
type InterProcessSemaphore struct {
	gate   seat.Lock // its holder takes leases, and all others wait there
	leases seat.Lock
	limit  SemaphoreLimit
}

const leaseKind = "lease-"

// NewInterProcessSemaphore returns the semaphore with this path and limit. It
// does not contact the server: a client, a path, a limit or an option that
// cannot be used is an error of every acquire.
func NewInterProcessSemaphore(c *framework.Client, path string, limit SemaphoreLimit, opts ...Option) *InterProcessSemaphore {
	return newSemaphore(c, path, limit, locktrace.RecipeSemaphore, opts)
}

func newSemaphore(c *framework.Client, path string, limit SemaphoreLimit, recipe string, opts []Option) *InterProcessSemaphore {
	options := optionsOf(opts, Option.applyToAny)
	if limit.limit == nil {
		limit = Limit(0)
	}
	atGate := options
	atGate.Revocable = false // the holders of leases may be asked for them, not those that take their turn
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

// below returns the path of one of a semaphore's own nodes. An empty path stays what
// it is, so that it is the error of every call.
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

// TryAcquire is Acquire without waiting for others. It returns a
// *NotAcquiredError if no lease is free, and also while another acquire is taking
// leases, until the server's reply has arrived.
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	return s.acquire(ctx, 1, false)
}

// AcquireN waits for n leases and returns them as one, which holds them all
// until it is released: all or none of them. The context ends if any of them
// is lost. No other acquire is served meanwhile, so that two that want several
// cannot wait for each other, each with a part of what both need. To ask for
// more than a fixed limit is zk.ErrBadArguments; with a shared limit, AcquireN
// waits for that to be raised. If ctx ends meanwhile, the error is a
// *NotAcquiredError that names the limit.
//
// One transaction takes all of them, when they are free. Some thousands fit into
// it. For more, the error matches framework.ErrRequestTooLarge, when all are free.
//
// Java queues again for each of several leases. If it has a part of what it
// needs, it and an AcquireN may wait for each other until one gives up: let
// only one language take several, or have leases enough for all that do.
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

// Participants returns the leases, in the order in which they were taken.
// Leases beyond the limit belong to somebody in Java who waits, or were taken
// before it was lowered. All others are marked as held by Participant.Holder.
// Contenders of this library that wait are not in the list. Package inspect tells
// who waits: see inspect.Walk, with inspect.WithSharedLimits.
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
		_ = follow.Pause(ctx, s.leases.Client(), &vanished) // the next attempt says that ctx has ended
	}
}

// winOnce returns nothing if it has to be done again. It waits for the gate's
// release: the node would be in the way of the next who tries.
func (s *InterProcessSemaphore) winOnce(ctx context.Context, a seat.Attempt, n int) (h *seat.Hold, err error) {
	gate, err := s.passGate(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { gate.Release(seat.UnlessDown(ctx, err)) }()
	return s.take(ctx, gate, n, a)
}

// passGate waits for our turn at the gate.
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

// take takes n leases at the open gate, and leaves that. It returns nothing if
// the gate closed meanwhile, or the session ended.
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

// refuseTry refuses an attempt that does not wait by a look at the leases, if the
// last attempt was in vain, too. It returns nil if the attempt has to pass the
// gate.
func (s *InterProcessSemaphore) refuseTry(ctx context.Context, a seat.Attempt, n int) error {
	asked := &leasesAsked{n: n}
	refusal := s.leases.LookFirst(ctx, s.wanted(asked), a)
	if refusal == nil {
		return nil
	}
	return s.refuse(ctx, refusal, asked)
}

// leasesAsked is how many leases an acquire asks for, and what it has read of
// their limit.
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

// tooLow reports whether the limit is too low, whoever gives leases back.
func (l *leasesAsked) tooLow() bool { return l.limitRead && l.n > l.limit }

// refuse returns the error of an acquire that was refused at the leases.
func (s *InterProcessSemaphore) refuse(ctx context.Context, r *seat.NotAdmitted, asked *leasesAsked) error {
	seen := !r.Seen.IsZero()                                  // the leases, by this attempt
	if asked.tooLow() && (r.Err == nil || ctx.Err() != nil) { // ctx may end a moment after its copy
		return s.leases.RefuseLimit(r, asked.n, asked.limit)
	}
	err := s.leases.Refuse(ctx, r)
	if asked.limitRead && seen {
		err = noteLeases(err, asked.n, asked.limit)
	}
	return err
}
