package discovery

import (
	"cmp"
	"fmt"
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

	mu      sync.Mutex
	records map[identity]*record
	all     []*member // disabled ones are among them
	members []*member // those that are not
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
	hash   uint64
	busy   atomic.Int64 // requests under way
	errors atomic.Int64 // errors in a row

	// These have the picker's mutex.
	out   bool          // it is out
	until time.Time     // the end of the last time out
	pause time.Duration // the length of the last time out
}

type member struct {
	instance Instance
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

// WithFailures says which errors count against an instance. The default is all,
// but for context.Canceled: a caller that has no more interest says nothing of
// the instance. An error that does not count is no success either. The function
// may be called by several goroutines at the same time.
func WithFailures(counts func(error) bool) PickerOption {
	return func(p *Picker) { p.fails = counts }
}

// WithDirectory says from which directory the instances are. The Picker still has
// those alone that Update gives it. The log, the flight
// recorder and the hooks of its client are then told of instances that are taken
// out.
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
//			picker.Update(ch.Now.Instances())
//			last = ch.Now
//		}
//	}
//
// What is known of an instance is kept for as long as it has the same service, ID,
// address and ports. Those that are Disabled are not picked. Update keeps the instances,
// and not the slice.
func (p *Picker) Update(instances []Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.records
	p.records = make(map[identity]*record, len(instances))
	p.all, p.members = nil, nil
	for _, i := range instances {
		key := identityOf(i)
		r := old[key]
		if r == nil {
			r = &record{hash: hashOf(i)}
		}
		p.records[key] = r
		m := &member{i, r}
		p.all = append(p.all, m)
		if !i.Disabled {
			p.members = append(p.members, m)
		}
	}
	p.publish(time.Now())
}

// Pick returns the next instance. Call the request's Done when it has come to an
// end, with its error: the power of two choices counts the requests under way, and
// errors take an instance out. If there is no instance, the error matches
// ErrNoInstance, and Done does nothing. A pick allocates nothing.
func (p *Picker) Pick() (Instance, Request, error) { return p.PickFor("") }

// PickFor is Pick for a strategy that looks at a key, as Rendezvous does.
func (p *Picker) PickFor(key string) (Instance, Request, error) {
	v := p.current.Load()
	if !v.next.IsZero() && !time.Now().Before(v.next) {
		v = p.refreshed()
	}
	if len(v.list) == 0 {
		return Instance{}, Request{}, v.empty
	}
	m := v.chooser.choose(v.list, key)
	return m.instance, p.begin(m.record), nil
}

func (p *Picker) refreshed() *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.publish(time.Now())
}

// publish makes a view of what has changed. The mutex is held.
func (p *Picker) publish(now time.Time) *view {
	next := p.readmit(now) // before the strategy chooses
	v := &view{list: p.strategy.prefer(p.all), next: next}
	v.chooser = p.current.Load().chooser.renew(v.list)
	v.empty = ErrNoInstance
	if disabled := len(p.records) - len(p.members); disabled > 0 {
		v.empty = fmt.Errorf("%w: all %d are disabled", ErrNoInstance, disabled)
	}
	p.current.Store(v)
	return v
}
