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

// Picker picks one of the instances of a service for each request, by a
// Strategy. All methods may be called at the same time. It has no goroutine, and
// need not be closed. The zero Picker cannot be used: NewPicker makes one.
//
// It also takes instances out that fail: after a number of errors in a row, an
// instance is not picked for a while. See WithEjection.
type Picker struct {
	strategy Strategy
	ejection ejection
	fails    func(error) bool
	from     *Directory // or nil
	fault    error      // why an option cannot be used, or nil

	mu   sync.Mutex // protects the following fields, and those of members
	all  []*member  // of the last Update, in its order
	up   int        // how many of all are not disabled
	list []*member  // those to pick from
	back time.Time  // when the next one comes back that is out; zero if none is
	turn uint64     // counts the picks of RoundRobin
	held *member    // Sticky's; or nil
}

// member is what a Picker knows of an instance, for as long as the instance stays in
// the list.
type member struct {
	entry  *Entry
	left   bool
	errors int           // in a row
	out    bool          // it is out
	until  time.Time     // the end of the last time out
	pause  time.Duration // the length of the last time out
}

// identity is what makes two instances the same to a Picker, whatever else they
// say: the same process, as a rule. Two services may use the same IDs.
type identity struct {
	service, id, address string
	port, tlsPort        int
}

func identityOf(i Instance) identity { return identity{i.Service, i.ID, i.Address, i.Port, i.TLSPort} }

// Strategy says which instance a Picker picks: RoundRobin, Random or Sticky. One
// Strategy may be given to many pickers, each of which has its own state.
type Strategy struct{ next func(p *Picker) *member }

// RoundRobin picks one after the other, in the order of Update, and begins
// anywhere.
func RoundRobin() Strategy {
	return Strategy{next: func(p *Picker) *member {
		p.turn++
		return p.list[p.turn%uint64(len(p.list))]
	}}
}

// Random picks any.
func Random() Strategy {
	return Strategy{next: func(p *Picker) *member { return p.list[random.Int(len(p.list))] }}
}

// Sticky stays with an instance for as long as it can be picked, and then takes
// the next one of another strategy. Changes to what an instance says do not
// matter, as long as it has the same service, ID, address and ports.
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

// PickerOption configures a Picker.
type PickerOption func(*Picker)

// WithFailures says which errors count against an instance. The default is all
// except context.Canceled: a caller that has no more interest says nothing of
// the instance. An error that does not count is no success either. The function
// may be called by several goroutines at the same time.
func WithFailures(counts func(error) bool) PickerOption {
	return func(p *Picker) { p.fails = counts }
}

// WithDirectory says from which directory the instances are. The Picker still has
// those alone that Update gives it. The log and the hooks of the
// directory's client then receive which instances are taken out.
func WithDirectory(d *Directory) PickerOption {
	return func(p *Picker) {
		if p.from = d; d == nil {
			p.fault = invalid("directory", "nil", "must not be nil")
		}
	}
}

// NewPicker returns a Picker without instances. An argument that cannot be used
// is an error that matches zk.ErrBadArguments.
func NewPicker(s Strategy, opts ...PickerOption) (*Picker, error) {
	p := &Picker{strategy: s, ejection: defaultEjection, fails: counts, turn: uint64(random.Int(math.MaxInt32))}
	switch err := cmp.Or(applyAll(p, opts), p.fault); {
	case err != nil:
		return nil, err
	case s.next == nil:
		return nil, invalid("strategy", "", "must be one of this package's")
	case p.fails == nil:
		return nil, invalid("failures", "nil", "must not be nil")
	case !p.ejection.valid():
		return nil, invalid("ejection", fmt.Sprintf("%+v", p.ejection), "must have errors and pauses above 0, and the first no longer than the longest")
	}
	return p, nil
}

// Update says which instances there are. Call it with what a Directory has, each
// time that this changes, and once for all changes of one snapshot:
//
//	var last *discovery.Snapshot
//	for ch := range directory.Changes(ctx) {
//		if ch.Now != last {
//			picker.Update(ch.Now.Entries)
//			last = ch.Now
//		}
//	}
//
// Those that are Disabled are not picked. What is known of an instance is kept for as
// long as it has the same service, ID, address and ports. Update keeps the entries,
// and not the slice. An entry that was in the last list is taken to be unchanged, so
// that an update of a few among many costs little.
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
		delete(known, key) // no two are one member
		m.entry, m.left, come[at] = e, false, m
	}
	return come
}

// Pick returns the next instance. Call the request's Done when it has come to an
// end, with its error: errors take an instance out. If there is no instance, the
// error matches ErrNoInstance, and Done does nothing. A pick allocates nothing.
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

// Request is a request to an instance that a Picker has picked: it is under way
// from Pick to the first call of Done. It may be copied. The zero Request is to
// nobody, and its Done does nothing.
type Request struct {
	picker *Picker
	to     *member
	turn   *atomic.Uint64
	number uint64 // what turn has until this one ends
}

// turns has numbers that are used for one request after the other, so that a pick
// allocates nothing. A number grows with the end of a request, so that the call of
// a Done that comes again, or late, ends no other request.
var turns = sync.Pool{New: func() any { return new(atomic.Uint64) }}

// begin begins a request.
func (p *Picker) begin(to *member) Request {
	turn := turns.Get().(*atomic.Uint64)
	return Request{p, to, turn, turn.Load()}
}

// Done ends the request, with its error or nil. The first call counts, whichever
// copy's it is, and all others do nothing: a caller may defer Done(nil), and call it
// with an error before.
func (r Request) Done(err error) {
	if r.turn == nil || !r.turn.CompareAndSwap(r.number, r.number+1) {
		return
	}
	turns.Put(r.turn)
	r.picker.finished(r.to, err)
}
