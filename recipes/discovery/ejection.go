package discovery

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// ejection says when a Picker ejects an instance, and for how long.
type ejection struct {
	errors         int
	pause, longest time.Duration
}

var defaultEjection = ejection{5, 10 * time.Second, 5 * time.Minute}

// WithEjection sets after how many consecutive errors the Picker ejects an instance, and
// for how long. The defaults are 5 errors, a pause of 10 s and a longest pause of 5 min.
//
// A success resets the count of errors. Each further ejection of the instance doubles
// the pause, up to longest. If an instance is then not ejected for as long as its last
// pause, its next ejection has the first pause again. At most half of the instances are
// ejected at the same time: if most instances fail, the cause is probably elsewhere.
func WithEjection(errors int, pause, longest time.Duration) PickerOption {
	return func(p *Picker) { p.ejection = ejection{errors, pause, longest} }
}

// counts is the default of WithFailures.
func counts(err error) bool { return !reason.Is(err, context.Canceled) }

// finished takes the result of a request.
func (p *Picker) finished(m *member, err error) {
	if err != nil && !p.fails(err) {
		return
	}
	if i, pause := p.count(m, err); pause > 0 && p.from != nil {
		p.from.tellEjected(i, pause, err)
	}
}

// count counts consecutive errors, and ejects an instance with too many. It returns the
// pause of the ejection, or 0.
func (p *Picker) count(m *member, err error) (i Instance, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		m.errors = 0
		return i, 0
	}
	m.errors++
	if m.errors%p.ejection.errors != 0 { // if no ejection is possible now, the next check is after as many errors
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

// refresh rebuilds the list to pick from. Ejected members return if their pause is over,
// or if more than half of the members would be ejected because others have left. The
// mutex is held.
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
