package seat

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
)

// several is the state of a lease for several locks.
type several struct {
	leases []*Lease
	held   []*Hold              // the holds of all the leases
	stop   []context.CancelFunc // end the merged contexts, and the functions that wait for requests
	base   context.Context      // has the caller's values

	asked context.Context // ends when another client asks for one of the locks
	ask   context.CancelFunc
}

// Several returns a lease without locks. It has the values of ctx.
func Several(ctx context.Context) *Lease {
	s := &several{base: context.WithoutCancel(ctx)}
	s.asked, s.ask = context.WithCancel(context.Background())
	l := &Lease{several: s, life: context.Background()}
	l.workIn(s.base)
	return l
}

// Add adds a lease. It must be called before the combined lease is returned to the user.
//
// The new context has the caller's values, not the values of the previous context: a
// lease that was acquired under WhileHeld already has the previous values. If both
// contexts had the values, the time to find that a value is missing would double with
// each lease.
func (l *Lease) Add(one *Lease) {
	s := l.several
	s.leases = append(s.leases, one)
	s.held = slices.Concat(s.held, one.Holds())
	for _, h := range one.Holds() {
		unlisten := context.AfterFunc(h.seat.when(&h.seat.watched.asked), s.ask)
		s.stop = append(s.stop, func() { unlisten() }) // a lease that was re-entered may outlive this one
	}
	life, forget := endingWith(one.life, l.life)
	held, stop := endingWith(merged{one.held(), s.valuesOf(s.base)}, l.held())
	s.stop = append(s.stop, forget, stop)
	l.life = life
	l.workIn(held)
}

// WhileHeld returns a copy of ctx that ends with the leases added so far. Acquire the
// next lease under it. The copy has the values of ctx and the added holds, but not the
// values of the leases' contexts. Those contexts were derived from earlier copies, so the
// lookup of a value would pass through every copy.
//
// The copy refers to the last added lease, not to the combined lease. The combined lease
// is not complete yet, and its parts must not keep a dropped combined lease in memory.
func (l *Lease) WhileHeld(ctx context.Context) (context.Context, context.CancelFunc) {
	n := len(l.several.leases)
	if n == 0 {
		return ctx, func() {}
	}
	return endingWith(leaseContext{merged{l.life, l.valuesOf(ctx)}, l.several.leases[n-1]}, ctx)
}

// AnyLost reports whether one of the leases has ended.
func (l *Lease) AnyLost() bool {
	return slices.ContainsFunc(l.several.leases, func(l *Lease) bool { return l.ctx.Err() != nil })
}

// Client returns the client of the first lease, or nil if there are no leases.
func (l *Lease) Client() *framework.Client {
	if all := l.Holds(); len(all) > 0 {
		return all[0].seat.client
	}
	return nil
}

func (s *several) valuesOf(ctx context.Context) context.Context { return underHolds{ctx, s.held} }

// Requested is closed when another client asks for one of the locks.
func (s *several) Requested() <-chan struct{} {
	for _, h := range s.held {
		h.seat.Watch()
	}
	return s.asked.Done()
}

// release releases all leases in reverse order, even if some of the releases fail. All
// leases end before the first request: if the session is lost meanwhile, the later leases
// do not report a loss, and if a connection breaks, release no longer waits for that
// client.
func (s *several) release(ctx context.Context) (err error) {
	defer s.unwatch()
	leases := s.single()
	partings := make([]parting, len(leases))
	for i, l := range slices.Backward(leases) {
		partings[i] = l.part()
	}
	for i, l := range leases { // deferred, so that each is finished even if a hook panics in another
		defer func() { err = errors.Join(err, l.finish(ctx, partings[i])) }()
	}
	return nil
}

// single returns the leases, with nested leases replaced by their parts.
func (s *several) single() (all []*Lease) {
	for _, l := range s.leases {
		if l.hold != nil {
			all = append(all, l)
		} else {
			all = append(all, l.several.single()...)
		}
	}
	return all
}

// unwatch ends the contexts that depend on the leases.
func (s *several) unwatch() {
	for _, l := range s.leases {
		if l.hold == nil {
			l.several.unwatch()
		}
	}
	for _, stop := range slices.Backward(s.stop) {
		stop()
	}
}
