package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/inspect"
)

// What happened to a participant. Where spans have such an event, it has the
// same name.
const (
	Enqueued  = semconv.EventEnqueued
	Granted   = semconv.EventGranted
	Revoked   = semconv.EventRevoked
	Abandoned = semconv.EventAbandoned // the node of a waiter is gone
	Released  = "released"             // the node of a holder is gone
	Seen      = "seen"                 // it was there at the first look
	Freed     = "freed"                // somebody deleted the node
)

// Event is the JSON of what happened to a participant between two looks.
type Event struct {
	Time        time.Time    `json:"time"` // the time of the look that noticed it
	Event       string       `json:"event"`
	Path        string       `json:"path"`
	Recipe      inspect.Kind `json:"recipe"`
	Participant Participant  `json:"participant"`
	Waiting     int          `json:"waiters"` // left in the queue
}

// Look is what was at a path at one time.
type Look map[string]Sighting // the keys are paths of nodes

// Sighting is a participant as a look has seen it.
type Sighting struct {
	inspect.Participant
	Recipe inspect.Recipe
	Holds  bool
	queue  int // how many wait there
}

// LookAt returns what is in some recipes.
func LookAt(recipes []inspect.Recipe) Look {
	l := Look{}
	for _, r := range recipes {
		for _, p := range r.Holders {
			l[p.Path] = Sighting{p, r, true, len(r.Waiters)}
		}
		for _, p := range r.Waiters {
			l[p.Path] = Sighting{p, r, false, len(r.Waiters)}
		}
	}
	return l
}

// KeepNames gives owners the names that an earlier look has seen, where a
// revocation has overwritten them.
func (l Look) KeepNames(before Look) {
	for path, s := range l {
		old, known := before[path]
		if !known || old.Czxid != s.Czxid || !s.Revoked {
			continue
		}
		s.ID, s.Service, s.Host, s.PID, s.Trace = old.ID, old.Service, old.Host, old.PID, old.Trace
		s.Waiting = old.Waiting
		l[path] = s
	}
}

// Events returns what happened from one look to the next: what has gone comes
// first, and the rest is in the order of the queue. Without an earlier look,
// everything is Seen.
func (v View) Events(before, after Look) (events []Event) {
	for _, s := range gone(before, after) {
		what := Abandoned
		if s.Holds {
			what = Released
		}
		s.queue = queueAt(after, s.Recipe)
		events = append(events, v.event(what, s))
	}
	for _, s := range inOrder(after) {
		old, known := before[s.Path]
		known = known && old.Czxid == s.Czxid
		switch {
		case before == nil:
			events = append(events, v.event(Seen, s))
			continue
		case !known:
			events = append(events, v.event(Enqueued, s))
		}
		if s.Holds && (!known || !old.Holds) {
			events = append(events, v.event(Granted, s))
		}
		if s.Revoked && (!known || !old.Revoked) {
			events = append(events, v.event(Revoked, s))
		}
	}
	return events
}

// gone returns what is not there any more, in order. A node that was created
// anew is another one.
func gone(before, after Look) []Sighting {
	lost := Look{}
	for path, s := range before {
		if now, ok := after[path]; !ok || now.Czxid != s.Czxid {
			lost[path] = s
		}
	}
	return inOrder(lost)
}

// inOrder sorts by recipe, and then by the position in the queue.
func inOrder(l Look) []Sighting {
	return slices.SortedFunc(maps.Values(l), func(a, b Sighting) int {
		if c := strings.Compare(a.Recipe.Path+"\x00"+string(a.Recipe.Kind), b.Recipe.Path+"\x00"+string(b.Recipe.Kind)); c != 0 {
			return c
		}
		if a.Position != b.Position {
			return a.Position - b.Position
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func queueAt(l Look, r inspect.Recipe) int {
	for _, s := range l {
		if s.Recipe.Path == r.Path && s.Recipe.Kind == r.Kind {
			return s.queue
		}
	}
	return 0
}

// Happened returns what somebody has just done to a participant.
func (v View) Happened(what string, s Sighting) Event {
	s.queue = len(s.Recipe.Waiters)
	return v.event(what, s)
}

func (v View) event(what string, s Sighting) Event {
	role := Waiter
	if s.Holds {
		role = Holder
	}
	return Event{
		Time: v.Now.UTC(), Event: what, Path: s.Recipe.Path, Recipe: s.Recipe.Kind,
		Participant: v.Participant(s.Recipe.Kind, s.Participant, role), Waiting: s.queue,
	}
}

// EventHeader returns the names of the columns of EventRow.
func (v View) EventHeader() []string {
	return []string{"TIME", "EVENT", "HOLDER", "AGE", "WAITING", "SESSION", "NODE"}
}

// EventWidths are the least widths of the columns, so that rows that come one by
// one are aligned as a rule.
var EventWidths = []int{8, len(Revoked), 24, 6, 7, 18}

// EventRow returns the row of an event.
func (v View) EventRow(e Event) []columns.Cell {
	p := e.Participant
	owner := inspect.Participant{ID: p.ID, Service: p.Service, Host: p.Host, PID: p.PID, Unreadable: p.Unreadable}
	node := shortNode(e.Path, p.Node)
	if v.Wide {
		node = p.Node
	}
	age := ""
	if p.Since != nil {
		age = v.ageText(*p.Since)
	}
	name := e.Event
	if e.Event == Seen {
		name += " " + p.Role
	}
	session := v.sessionCell(inspect.Participant{Session: p.Session, Unreadable: p.Unreadable})
	return []columns.Cell{
		{Text: v.clock(e.Time)}, {Text: name, Style: eventStyle(e)}, {Text: v.owner(owner)}, {Text: age},
		{Text: strconv.Itoa(e.Waiting)}, session, {Text: printable.String(node)},
	}
}

func eventStyle(e Event) columns.Style {
	switch {
	case e.Event == Granted, e.Event == Seen && e.Participant.Role == Holder:
		return columns.Good
	case e.Event == Revoked, e.Event == Abandoned:
		return columns.Warn
	case e.Event == Released:
		return columns.Header
	}
	return columns.Plain
}
