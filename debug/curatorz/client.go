package curatorz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// view has the settings for showing clients.
type view struct {
	now    time.Time
	filter string // the text that each path must contain
	most   int    // the limit of items in a section
}

// client describes a client.
func (v view) client(s source) client {
	c := client{Name: rowOf(false, s.service).Cells[0], Facts: v.facts(s)}
	c.State, c.Good = v.state(&s.status)
	c.Sections = append(v.locks(s.locks), v.followers(s)...)
	c.Sections = append(c.Sections, v.events(s.events))
	watches := matching(v, s.status.Watches, func(w framework.WatchStatus) string { return w.Path })
	c.Sections = append(c.Sections,
		sectionOf("servers", []string{"Address", "State", "Attempts", "Last attempt", "Error"},
			s.status.Servers, v.most, v.server),
		sectionOf("watches", []string{"Path", "Kind", "Waiters"}, watches, v.most, watch))
	return c
}

// matching returns the items whose paths have the text of the filter.
func matching[T any](v view, all []T, path func(T) string) []T {
	return slices.DeleteFunc(all, func(one T) bool { return !strings.Contains(path(one), v.filter) })
}

// state returns the state of the client, such as "connected for 3h".
func (v view) state(s *framework.Status) (text string, good bool) {
	switch {
	case s.Closed:
		return "closed", false
	case s.NeverConnected, s.Since.IsZero():
		return "connecting, never connected", false
	}
	return strings.ToLower(s.State.String()) + " for " + v.since(s.Since), s.State.IsConnected()
}

// facts describes the connection and the session.
func (v view) facts(s source) (all []fact) {
	add := func(trouble bool, name, text string) {
		if text != "" {
			all = append(all, fact{name, rowOf(false, text).Cells[0], trouble})
		}
	}
	add(true, "no connection", errText(s.status.Cause))
	add(true, "the list of servers is old", errText(s.status.ServersProblem))
	add(false, "chroot", s.status.Chroot)
	n := s.status.Session
	if n == nil {
		return all
	}
	add(false, "session", fmt.Sprintf("%#x for %s", uint64(n.ID), v.since(n.Established)))
	left := duration(n.Left) + " of " + duration(n.Timeout)
	switch {
	case n.Ended != nil:
		left = "over: " + errText(n.Ended)
	case n.Left <= 0:
		left = "none of " + duration(n.Timeout)
	}
	add(n.Ended != nil || n.Left <= 0, "time left without an answer", left)
	add(false, "last answered request", "sent "+v.since(n.LastContact)+" ago, to "+n.Server)
	add(false, "locks end", policy(n))
	return all
}

// policy returns a text that says when work under a lock must stop.
func policy(s *framework.SessionStatus) string {
	early := duration(time.Duration(s.SafetyMargin*float64(s.Timeout))) + " before the servers end "
	strict := ""
	if s.StrictContact {
		strict = "strict contact"
	}
	if s.ErrorPolicy == state.StandardPolicy {
		return list("with the connection, or "+early+"the session", strict)
	}
	return list("with the session, "+early+"it", strict)
}

func (v view) server(s framework.ServerStatus) row {
	state := "not connected"
	switch {
	case s.Connected:
		state = "connected"
	case s.Attempts == 0:
		state = "not tried"
	}
	if !s.Listed {
		state += ", not in the list"
	}
	last := ""
	if s.Attempts > 0 {
		last = v.since(s.Last) + " ago"
	}
	attempts := fmt.Sprintf("%d, %d failed", s.Attempts, s.Failures)
	return rowOf(s.Err != nil, s.Address, state, attempts, last, errText(s.Err))
}

// watch describes a watch that the server has for the client, or will have as soon
// as there is a connection and an answer.
func watch(w framework.WatchStatus) row {
	kind := "data"
	switch {
	case w.Recursive:
		kind = "persistent recursive"
	case w.Persistent:
		kind = "persistent"
	case w.Children:
		kind = "children"
	}
	if !w.Set {
		kind += ", not set yet"
	}
	return rowOf(false, w.Path, kind, fmt.Sprint(w.Waiters))
}

// followers describes the registrations, caches and directories, in the order of their
// paths.
func (v view) followers(s source) []section {
	registered := func(r registration) string { return cmp.Or(r.Node, r.Path) }
	root := func(c tree) string { return c.Root }
	base := func(d services) string { return d.Root }
	all := []section{
		sectionOf("registrations", []string{"Path", "State", "Node"},
			byPath(matching(v, s.registrations, registered), registered), v.most, v.registration),
		sectionOf("caches", []string{"Root", "State", "Nodes", "As of", "Resyncs"},
			byPath(matching(v, s.caches, root), root), v.most, v.cache),
	}
	if len(s.directories) == 0 { // most programs call no services
		return all
	}
	return append(all, sectionOf("directories", []string{"Root", "State", "As of", "Services", "Malformed nodes"},
		byPath(matching(v, s.directories, base), base), v.most, v.directory))
}

func byPath[T any](all []T, path func(T) string) []T {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(path(a), path(b)) })
	return all
}
