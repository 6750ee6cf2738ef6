package curatorz

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// event is an event in the words of the page.
type event struct {
	at     time.Time
	number int // in the order of the events: times may be equal
	name   string
	path   string // the server's path; empty for an event of the connection
	kind   string // of the lock at the path
	text   string
	bad    bool
}

// because returns the event with its cause, or without one for nil.
func (e event) because(err error) event {
	if err != nil {
		e.text += ": " + errText(err)
	}
	return e
}

// frequent are the kinds of events that would push out all others, such as the loss of a
// session.
var frequent = map[string]bool{
	"waiting": true, "acquired": true, "not acquired": true, "released": true,
	"overwritten": true, "directory": true, "ejected": true,
}

// history has the last events of a client: 128 frequent ones, and 128 others.
type history struct {
	events         int // how many events there were
	frequent, rare ring
}

func (h *history) add(e event) {
	h.events++
	e.number = h.events
	if frequent[e.name] {
		h.frequent.add(e)
	} else {
		h.rare.add(e)
	}
}

// all returns the events, the newest first.
func (h *history) all() []event {
	all := slices.Concat(h.frequent.events, h.rare.events)
	slices.SortFunc(all, func(a, b event) int { return cmp.Compare(b.number, a.number) })
	return all
}

// ring has the last size events. It grows up to that size.
type ring struct {
	events []event
	next   int // the index of the next event, once the ring is full
}

const size = 128

func (r *ring) add(e event) {
	if len(r.events) < size {
		r.events = append(r.events, e)
		return
	}
	r.events[r.next] = e
	r.next = (r.next + 1) % size
}

// events describes what happened, the newest first. Frequent events may push out older
// frequent ones, so the list may have gaps.
func (v view) events(all []event) section {
	all = slices.DeleteFunc(all, func(e event) bool { return e.path != "" && !strings.Contains(e.path, v.filter) })
	return sectionOf("events", []string{"Time", "Event", "Path", "What"}, all, v.most, func(e event) row {
		path := e.path
		if e.kind != "" {
			path += " (" + e.kind + ")"
		}
		return rowOf(e.bad, clock(v.now, e.at), e.name, path, e.text)
	})
}
