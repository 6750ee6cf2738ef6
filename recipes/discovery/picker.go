package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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
	current  atomic.Pointer[view]

	mu   sync.Mutex
	all  []*member // of the last Update, in its order
	up   int       // how many of all are not disabled
	outs []*record // those that are out, also if they have left or drain since
}

// identity is what makes two instances the same to a Picker, whatever else they
// say: the same process, as a rule. Two services may use the same IDs.
type identity struct {
	service, id, address string
	port, tlsPort        int
}

func identityOf(i Instance) identity { return identity{i.Service, i.ID, i.Address, i.Port, i.TLSPort} }

// record is what a Picker knows of an instance, for as long as the instance
// stays in the list.
type record struct {
	errors atomic.Int64 // errors in a row

	// These have the picker's mutex.
	now   *member       // what the instance says now; nil if it has left
	out   bool          // it is out
	until time.Time     // the end of the last time out
	pause time.Duration // the length of the last time out
}

// isUp reports whether an instance is there and does not drain. The mutex is held.
func (r *record) isUp() bool { return r.now != nil && !r.now.disabled }

// member is an instance in one list.
type member struct {
	entry    *Entry
	disabled bool // the entry's, which need not be looked up for each new list
	*record
}

// view is what all picks look at until something changes.
type view struct {
	list    []*member
	chooser chooser
	empty   error     // the error of a pick from an empty list
	next    time.Time // the time at which an instance comes back; zero if none is out
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
// those alone that Update gives it. The log, the flight recorder and the hooks of the
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
	p := &Picker{strategy: s, ejection: defaultEjection, fails: counts}
	switch err := cmp.Or(applyAll(p, opts), p.fault); {
	case err != nil:
		return nil, err
	case s.chooser == nil:
		return nil, invalid("strategy", "", "must be one of this package's")
	case p.fails == nil:
		return nil, invalid("failures", "nil", "must not be nil")
	case !p.ejection.valid():
		return nil, invalid("ejection", fmt.Sprintf("%+v", p.ejection), "must have errors and pauses above 0, and the first no longer than the longest")
	}
	p.current.Store(&view{chooser: s.chooser(), empty: ErrNoInstance})
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
	come := p.replace(old[first:len(old)-same], entries[first:len(entries)-same])
	p.all = slices.Concat(old[:first], come, old[len(old)-same:])
	p.publish(time.Now())
}

// replace returns the members of a part of the list that has changed. The mutex is
// held.
func (p *Picker) replace(old []*member, entries []*Entry) []*member {
	known := make(map[identity]*record, len(old))
	for _, m := range old {
		known[identityOf(m.entry.Instance)] = m.record
		p.up -= oneIf(!m.disabled)
		m.now = nil
	}
	come := make([]*member, len(entries))
	for at, e := range entries {
		key := identityOf(e.Instance)
		r := known[key]
		if r == nil {
			r = &record{}
		}
		delete(known, key) // no two members share a record
		come[at] = &member{e, e.Disabled, r}
		p.up += oneIf(!e.Disabled)
		r.now = come[at]
	}
	return come
}

// Pick returns the next instance. Call the request's Done when it has come to an
// end, with its error: errors take an instance out. If there is no instance, the
// error matches ErrNoInstance, and Done does nothing. A pick allocates nothing.
func (p *Picker) Pick() (Instance, Request, error) {
	v := p.current.Load()
	if !v.next.IsZero() && !time.Now().Before(v.next) {
		v = p.refreshed()
	}
	if len(v.list) == 0 {
		return Instance{}, Request{}, v.empty
	}
	m := v.chooser.choose(v.list)
	return m.entry.Instance, p.begin(m.record), nil
}

// refreshed returns the view in which those are back whose time is over. Of many
// callers that find it to be time, the first makes it.
func (p *Picker) refreshed() *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if v := p.current.Load(); v.next.IsZero() || now.Before(v.next) {
		return v
	}
	return p.publish(now)
}

// publish makes a view of what has changed. The mutex is held.
func (p *Picker) publish(now time.Time) *view {
	v := &view{next: p.readmit(now), list: make([]*member, 0, p.up), empty: ErrNoInstance} // readmit comes first
	for _, m := range p.all {
		if !m.disabled && (len(p.outs) == 0 || !m.out) {
			v.list = append(v.list, m)
		}
	}
	v.chooser = p.current.Load().chooser.renew(v.list)
	if p.up == 0 && len(p.all) > 0 {
		v.empty = fmt.Errorf("%w: all %d are disabled", ErrNoInstance, len(p.all))
	}
	p.current.Store(v)
	return v
}
