package discovery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/internal/random"
)

// Picker picks an instance of a service for each request, by a Strategy. A Picker is
// safe for concurrent use. It has no goroutine, and need not be closed. The zero Picker
// cannot be used; NewPicker makes one.
//
// A Picker ejects failing instances: after several consecutive errors, it does not pick
// the instance for some time. See WithEjection.
type Picker struct {
	strategy Strategy
	ejection ejection
	fails    func(error) bool
	from     *Directory // or nil
	fault    error      // of an invalid option, or nil

	mu   sync.Mutex // protects the following fields, and the fields of members
	all  []*member  // of the last Update, in its order
	up   int        // how many of all are not disabled
	list []*member  // the members to pick from
	back time.Time  // when the next ejected member returns; zero if none is ejected
	turn uint64     // counts the picks of RoundRobin
	held *member    // the member of Sticky, or nil
}

// member is what a Picker knows of an instance, for as long as the instance stays in
// the list.
type member struct {
	entry  *Entry
	left   bool
	errors int           // consecutive ones
	out    bool          // ejected
	until  time.Time     // the end of the last ejection
	pause  time.Duration // the length of the last ejection
}

// identity tells instances apart: instances with the same identity are usually the same
// process. Two services may use the same IDs.
type identity struct {
	service, id, address string
	port, tlsPort        int
}

func identityOf(i Instance) identity { return identity{i.Service, i.ID, i.Address, i.Port, i.TLSPort} }

// Strategy decides which instance a Picker picks: RoundRobin, Random or Sticky. Several
// pickers may share a Strategy; each picker has its own state.
type Strategy struct{ next func(p *Picker) *member }

// RoundRobin picks the instances in the order of Update, beginning with a random one.
func RoundRobin() Strategy {
	return Strategy{next: func(p *Picker) *member {
		p.turn++
		return p.list[p.turn%uint64(len(p.list))]
	}}
}

// Random picks a random instance.
func Random() Strategy {
	return Strategy{next: func(p *Picker) *member { return p.list[random.Int(len(p.list))] }}
}

// Sticky picks the same instance as long as possible, and then another instance by the
// strategy next. An instance stays the same while service, ID, address and ports do not
// change.
func Sticky(next Strategy) Strategy {
	if next.next == nil {
		return Strategy{}
	}
	return Strategy{next: func(p *Picker) *member {
		if p.held == nil {
			p.held = next.next(p)
		}
		return p.held
	}}
}

// PickerOption configures a Picker: when it ejects an instance ([WithEjection],
// [WithFailures]), and where it reports that ([WithDirectory]).
type PickerOption func(*Picker)

// WithFailures sets which errors count against an instance. By default all errors count
// except context.Canceled, because a caller that gives up says nothing about the
// instance. An error that does not count is not a success, either. counts may be called
// from several goroutines at the same time.
func WithFailures(counts func(error) bool) PickerOption {
	return func(p *Picker) { p.fails = counts }
}

// WithDirectory names the directory that the instances come from. The Picker then
// reports ejections to the log and the hooks of the directory's client. The Picker does
// not follow the directory: it knows only the instances that Update receives.
func WithDirectory(d *Directory) PickerOption {
	return func(p *Picker) {
		if p.from = d; d == nil {
			p.fault = invalid("directory", "nil", "must not be nil")
		}
	}
}

// NewPicker returns a Picker without instances. The error of an invalid argument matches
// zk.ErrBadArguments.
func NewPicker(s Strategy, opts ...PickerOption) (*Picker, error) {
	p := &Picker{strategy: s, ejection: defaultEjection, fails: counts, turn: uint64(random.Int(math.MaxInt32))}
	switch err := cmp.Or(applyAll(p, opts), p.fault); {
	case err != nil:
		return nil, err
	case s.next == nil:
		return nil, invalid("strategy", "", "must be one of this package's")
	case p.fails == nil:
		return nil, invalid("failures", "nil", "must not be nil")
	case p.ejection.errors < 1 || p.ejection.pause <= 0 || p.ejection.longest < p.ejection.pause:
		return nil, invalid("ejection", fmt.Sprintf("%+v", p.ejection),
			"must have errors and pauses above 0, and the first no longer than the longest")
	}
	return p, nil
}

// Update replaces the list of instances. To follow a Directory, call Update once for each
// new snapshot:
//
//	var last *discovery.Snapshot
//	for ch := range directory.Changes(ctx) {
//		if ch.Now != last {
//			picker.Update(ch.Now.Entries)
//			last = ch.Now
//		}
//	}
//
// Disabled instances are not picked. The Picker keeps its errors and ejections of an
// instance while service, ID, address and ports do not change. Update keeps the entries,
// but not the slice. Update assumes that an *Entry of the last list is unchanged, so
// that a change of few instances among many is cheap.
func (p *Picker) Update(entries []*Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.all
	first := 0
	for first < min(len(old), len(entries)) && old[first].entry == entries[first] {
		first++
	}
	same := 0 // at the end
	for same < min(len(old), len(entries))-first && old[len(old)-1-same].entry == entries[len(entries)-1-same] {
		same++
	}
	if first+same == len(old) && len(old) == len(entries) {
		return
	}
	come := replaced(old[first:len(old)-same], entries[first:len(entries)-same])
	p.all = slices.Concat(old[:first], come, old[len(old)-same:])
	p.refresh(time.Now())
}

// replaced returns the members of a part of the list that has changed.
func replaced(old []*member, entries []*Entry) []*member {
	known := make(map[identity]*member, len(old))
	for _, m := range old {
		known[identityOf(m.entry.Instance)] = m
		m.left = true
	}
	come := make([]*member, len(entries))
	for at, e := range entries {
		key := identityOf(e.Instance)
		m := known[key]
		if m == nil {
			m = &member{}
		}
		delete(known, key) // so that two equal entries become two members
		m.entry, m.left, come[at] = e, false, m
	}
	return come
}

// Pick returns an instance for the next request. Call Done with the request's error, or
// nil, when the request has ended: errors eject the instance. If there is no instance to
// pick, the error matches ErrNoInstance, and Done does nothing. Pick does not allocate.
func (p *Picker) Pick() (Instance, Request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.back.IsZero() {
		if now := time.Now(); !now.Before(p.back) {
			p.refresh(now)
		}
	}
	switch {
	case len(p.list) > 0:
		m := p.strategy.next(p)
		return m.entry.Instance, p.begin(m), nil
	case len(p.all) > 0:
		return Instance{}, Request{}, fmt.Errorf("%w: all %d are disabled", ErrNoInstance, len(p.all))
	}
	return Instance{}, Request{}, ErrNoInstance
}

// Request is a request to an instance, from Pick to the first call of Done. A Request may
// be copied. Done of the zero Request does nothing.
type Request struct {
	picker *Picker
	to     *member
	turn   *atomic.Uint64
	number uint64 // the value of turn until the request ends
}

// turns has counters for requests, which are reused, so that Pick does not allocate. The
// end of a request increments the counter, so that a repeated or late Done does not end a
// later request with the same counter.
var turns = sync.Pool{New: func() any { return new(atomic.Uint64) }}

// begin begins a request.
func (p *Picker) begin(to *member) Request {
	turn := turns.Get().(*atomic.Uint64)
	return Request{p, to, turn, turn.Load()}
}

// Done ends the request with its error, or nil. Only the first call of all copies of the
// Request has an effect. So a caller may defer Done(nil), and call Done with an error
// before that.
func (r Request) Done(err error) {
	if r.turn == nil || !r.turn.CompareAndSwap(r.number, r.number+1) {
		return
	}
	turns.Put(r.turn)
	r.picker.finished(r.to, err)
}
