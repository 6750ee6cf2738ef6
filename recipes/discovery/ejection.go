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
func (p *Picker) finished(m *member, err error) {
	if err != nil && !p.fails(err) {
		return
	}
	if i, pause := p.count(m, err); pause > 0 && p.from != nil {
		p.from.tellEjected(i, pause, err)
	}
}

// count counts the errors in a row, and takes an instance out that has too many. It
// returns how long that is out, or 0.
func (p *Picker) count(m *member, err error) (i Instance, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		m.errors = 0
		return i, 0
	}
	m.errors++
	if m.errors%p.ejection.errors != 0 { // if it has to stay in, it is looked at again after as many errors
		return i, 0
	}
	out := p.up - len(p.list)
	if m.out || m.left || m.entry.Disabled || 2*(out+1) > p.up {
		return i, 0
	}
	now := time.Now()
	if m.pause == 0 || now.Sub(m.until) >= m.pause {
		m.pause = p.ejection.pause
	} else {
		m.pause += min(m.pause, p.ejection.longest-m.pause) // must not overflow
	}
	m.out, m.until = true, now.Add(m.pause)
	p.refresh(now)
	return m.entry.Instance, m.pause
}

// refresh makes the list of those to pick from. It takes back in whose pause is over,
// and who is too many because others have left: no more than half of the instances are
// out. The mutex is held.
func (p *Picker) refresh(now time.Time) {
	up, out := make([]*member, 0, len(p.all)), []*member(nil)
	for _, m := range p.all {
		if m.entry.Disabled {
			continue
		}
		up = append(up, m)
		if m.out {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *member) int { return a.until.Compare(b.until) })
	p.back = time.Time{}
	for n, m := range out {
		if now.Before(m.until) && 2*(len(out)-n) <= len(up) {
			p.back = m.until
			break
		}
		m.out, m.errors = false, 0
		if now.Before(m.until) {
			m.until = now
		}
	}
	p.up = len(up)
	p.list = slices.DeleteFunc(up, func(m *member) bool { return m.out })
	if p.held != nil && (p.held.left || p.held.out || p.held.entry.Disabled) {
		p.held = nil
	}
}
