package discovery

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// ejection says when and for how long an instance is taken out.
type ejection struct {
	errors         int
	pause, longest time.Duration
}

var defaultEjection = ejection{5, 10 * time.Second, 5 * time.Minute}

func (e ejection) valid() bool {
	return e.errors > 0 && e.pause > 0 && e.longest >= e.pause
}

// WithEjection says after how many errors in a row an instance is taken out, and
// for how long. The default is 5 errors, 10 s and 5 min.
//
// A success begins the count again. The pause doubles up to the longest one each
// time that the instance is taken out again, and begins anew when the instance
// was in for as long as it was out before. No more than half of the instances
// are out at a time: if most of them fail, the cause is likely somewhere else.
func WithEjection(errors int, pause, longest time.Duration) PickerOption {
	return func(p *Picker) { p.ejection = ejection{errors, pause, longest} }
}

// counts reports whether an error counts against an instance, by default.
func counts(err error) bool { return !reason.Is(err, context.Canceled) }

// finished notes how a request has ended.
func (p *Picker) finished(r *record, err error) {
	switch {
	case err == nil:
		if r.errors.Load() != 0 {
			r.errors.Store(0)
		}
	case p.fails(err):
		// If it has to stay in, it is looked at again after as many errors.
		if n := r.errors.Add(1); n%int64(p.ejection.errors) == 0 {
			if m, pause := p.eject(r); m != nil && p.from != nil {
				p.from.tellEjected(m.entry.Instance, pause, err)
			}
		}
	}
}

// eject takes an instance out, unless it is out, or has left, or half of the
// instances are out. It returns nil then.
func (p *Picker) eject(r *record) (m *member, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.out || !r.isUp() || 2*(len(p.ejected())+1) > p.up {
		return nil, 0
	}
	now := time.Now()
	if r.pause == 0 || now.Sub(r.until) >= r.pause {
		r.pause = p.ejection.pause
	} else {
		r.pause += min(r.pause, p.ejection.longest-r.pause) // must not overflow
	}
	r.out, r.until = true, now.Add(r.pause)
	p.outs = append(p.outs, r)
	p.publish(now)
	return r.now, r.pause
}

// readmit takes back in whose pause is over, and who is too many because others
// have left: no more than half of the instances are out. It returns when the next
// one comes back, or zero if none is out. The mutex is held.
func (p *Picker) readmit(now time.Time) (next time.Time) {
	out := p.ejected()
	slices.SortFunc(out, func(a, b *record) int { return a.until.Compare(b.until) })
	for n, r := range out {
		if now.Before(r.until) && 2*(len(out)-n) <= p.up {
			next = r.until
			break
		}
		r.out = false
		if now.Before(r.until) {
			r.until = now
		}
		r.errors.Store(0)
	}
	p.outs = slices.DeleteFunc(p.outs, func(r *record) bool { return !r.out || r.now == nil })
	return next
}

// ejected returns those that are out and up. The mutex is held.
func (p *Picker) ejected() []*record {
	return slices.DeleteFunc(slices.Clone(p.outs), func(r *record) bool { return !r.isUp() })
}
