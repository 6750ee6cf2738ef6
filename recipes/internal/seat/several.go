package seat

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
)

// several are leases that were taken together, as one.
type several struct {
	leases []*Lease
	held   []*Hold              // the holds of all leases
	stop   []context.CancelFunc // end the merged contexts, and what listens for requests
	base   context.Context      // has the caller's values

	asked context.Context // its end says that somebody asks for one of the locks
	ask   context.CancelFunc
}

// Several returns a lease of no locks yet. It has the values of ctx.
func Several(ctx context.Context) *Lease {
	s := &several{base: context.WithoutCancel(ctx)}
	s.asked, s.ask = context.WithCancel(context.Background())
	l := &Lease{several: s, life: context.Background()}
	l.workIn(s.base)
	return l
}

// Add adds a lease. It must be called before the whole is handed out.
//
// The values are the caller's, and not those of the whole as it was before: the
// lease's context has these already if it was acquired under WhileHeld. If both
// had them, the time to find that there is no value would double with each lease.
func (l *Lease) Add(one *Lease) {
	s := l.several
	s.leases = append(s.leases, one)
	s.held = slices.Concat(s.held, one.Holds())
	for _, h := range one.Holds() {
		unlisten := context.AfterFunc(h.seat.when(&h.seat.watched.asked), s.ask)
		s.stop = append(s.stop, func() { unlisten() }) // the seat may stay held, by a lease that one has re-entered
	}
	life, forget := endingWith(one.life, l.life)
	held, stop := endingWith(merged{one.held(), s.valuesOf(s.base)}, l.held())
	s.stop = append(s.stop, forget, stop)
	l.life = life
	l.workIn(held)
}

// WhileHeld returns a copy of ctx that ends with the leases that were added so
// far. It is for acquiring the next one, which finds their holds in it, and
// otherwise the values of ctx alone. If it had the values of their contexts, too,
// which were derived from such copies, a look for a value would go through all of
// them.
//
// It refers to the last lease that was added, and not to the whole. The whole is
// not complete, and its parts must not keep it alive if it is dropped.
func (l *Lease) WhileHeld(ctx context.Context) (context.Context, context.CancelFunc) {
	n := len(l.several.leases)
	if n == 0 {
		return ctx, func() {}
	}
	return endingWith(leaseContext{merged{l.life, l.valuesOf(ctx)}, l.several.leases[n-1]}, ctx)
}

// AnyLost reports whether one of several leases has ended.
func (l *Lease) AnyLost() bool {
	return slices.ContainsFunc(l.several.leases, func(l *Lease) bool { return l.ctx.Err() != nil })
}

// Client returns the client of the first of several leases, or nil if there is none.
func (l *Lease) Client() *framework.Client {
	if all := l.Holds(); len(all) > 0 {
		return all[0].seat.client
	}
	return nil
}

func (s *several) valuesOf(ctx context.Context) context.Context { return underHolds{ctx, s.held} }

// Requested is closed when somebody asks for one of the locks.
func (s *several) Requested() <-chan struct{} {
	for _, h := range s.held {
		h.seat.Watch()
	}
	return s.asked.Done()
}

// release releases all leases, the last first. If one cannot be released, it
// still releases the others. It ends all of them before it makes a request: a
// session that is lost meanwhile is no loss of those that come later, and a
// connection that breaks ends the wait for all of its client.
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

// single returns the leases, with those that others consist of in their place.
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

// unwatch ends the contexts that follow the leases.
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
