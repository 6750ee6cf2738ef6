package curatorz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
)

// moment is what clients know of themselves at a time.
type moment struct {
	now     time.Time
	clients []source
}

// source is what a client knows of itself at one moment. Each part is consistent
// in itself, but the parts are read one after the other: a lock that is granted
// meanwhile may show up twice, or not at all.
type source struct {
	service       string
	status        framework.Status
	since         time.Time // the client has recorded what follows from then on
	records       []flight.View
	registrations []flight.Registration
	caches        []flight.Cache
	directories   []flight.Directory
	events        []flight.Event
}

// subject is a client, as its root view, and its flight recorder.
type subject struct {
	client   framework.Extension
	recorder *flight.Recorder
}

// subjectsOf returns each client once. It starts the recorders of the clients whose
// page was not used before.
func subjectsOf(clients []*framework.Client) (all []subject) {
	seen := map[framework.Extension]bool{}
	for _, c := range clients {
		if c == nil {
			continue
		}
		root := framework.Extend(c).Root()
		if !seen[root] {
			seen[root] = true
			all = append(all, subject{root, insider.Of(root).StartRecorder()})
		}
	}
	return all
}

func momentOf(subjects []subject) moment {
	m := moment{now: time.Now()}
	for _, s := range subjects {
		followers := s.recorder.Followers()
		m.clients = append(m.clients, source{
			service: s.client.ServiceName(), status: s.client.Status(), since: s.recorder.Since(),
			records: s.recorder.Records(), registrations: followers.Registrations.All(), caches: followers.Caches.All(),
			directories: followers.Directories.All(), events: s.recorder.Events(),
		})
	}
	return m
}

// view is how clients are shown.
type view struct {
	now    time.Time
	filter string // what has to be in each path
	most   int    // items of a section
}

// client describes a client.
func (v view) client(s source) client {
	c := client{Name: rowOf(false, s.service).Cells[0], Facts: v.facts(s)}
	c.State, c.Good = v.state(&s.status)
	c.Sections = append(v.locks(s), v.followers(s)...)
	c.Sections = append(c.Sections, v.events(s))
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

// state says how the client does, such as "connected for 3h".
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
	add(false, "recorded since", clock(v.now, s.since)+
		"; locks, registrations, caches and directories that began before are not listed")
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

// policy says when work under a lock has to stop.
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

// followers describes the registrations, caches and directories. Those that have
// ended by themselves are first, then the order is by path.
func (v view) followers(s source) []section {
	registered := func(r flight.Registration) string { return cmp.Or(r.Node, r.Path) }
	root := func(c flight.Cache) string { return c.Root }
	base := func(d flight.Directory) string { return d.Root }
	all := []section{
		sectionOf("registrations", []string{"Path", "State", "Node", "Instance"},
			inOrder(matching(v, s.registrations, registered), ofRegistration), v.most, v.registration),
		sectionOf("caches", []string{"Root", "State", "Nodes", "As of", "Resyncs"},
			inOrder(matching(v, s.caches, root), ofCache), v.most, v.cache),
	}
	if len(s.directories) == 0 { // most programs call no services
		return all
	}
	return append(all, sectionOf("directories", []string{"Root", "State", "As of", "Services", "Malformed nodes"},
		inOrder(matching(v, s.directories, base), ofDirectory), v.most, v.directory))
}

// These are the keys for inOrder.
func ofRegistration(r flight.Registration) (flight.End, string) { return r.End, r.Path }
func ofCache(c flight.Cache) (flight.End, string)               { return c.End, c.Root }
func ofDirectory(d flight.Directory) (flight.End, string)       { return d.End, d.Root }

// inOrder sorts by path. Items that have ended are first: a long list is cut off.
func inOrder[T any](all []T, key func(T) (flight.End, string)) []T {
	slices.SortFunc(all, func(a, b T) int {
		endA, pathA := key(a)
		endB, pathB := key(b)
		if endA.Ended.IsZero() != endB.Ended.IsZero() {
			return map[bool]int{true: 1, false: -1}[endA.Ended.IsZero()]
		}
		return cmp.Compare(pathA, pathB)
	})
	return all
}

func (v view) registration(r flight.Registration) row {
	registered := false
	var state, node, instance string
	switch {
	case !r.Ended.IsZero():
		state = "ENDED " + v.since(r.Ended) + " ago: " + errText(r.Why)
	case r.Deleting:
		state = list("ended, the node is not deleted yet and may exist", errText(r.Err))
	case r.Node == "":
		state = list("NOT registered for "+v.since(r.Changed), errText(r.Err))
	default:
		registered = true
		state = "registered for " + v.since(r.Changed)
	}
	if r.Node != "" {
		node = fmt.Sprintf("%s, czxid %#x", r.Node, r.Czxid)
	}
	if i := r.Instance; i != nil {
		instance = fmt.Sprintf("%s %s at %s", i.Service, i.ID, address(i.Address, i.Port, i.TLSPort))
		if i.Drains {
			instance += ", drains"
		}
	}
	return rowOf(!registered, r.Path, state, node, instance)
}

func (v view) cache(c flight.Cache) row {
	state := "up to date"
	switch {
	case !c.Ended.IsZero():
		state = "ENDED " + v.since(c.Ended) + " ago: " + errText(c.Why)
	case c.RootErr != nil:
		state = "the root CANNOT BE READ: " + errText(c.RootErr)
	case !c.Synced:
		state = "not filled yet"
	case c.Lag > 0:
		state = "behind for " + duration(c.Lag)
		if c.Behind > 0 {
			state += ", " + count(c.Behind, "transaction")
		}
	case c.Unreadable > 0:
		state = "up to date, except for nodes that cannot be read"
	}
	nodes := count(c.Nodes, "node")
	if c.ToRead > 0 {
		nodes += fmt.Sprintf(", %d still to read", c.ToRead)
	}
	if c.Unreadable > 0 {
		nodes += fmt.Sprintf(", %d unreadable", c.Unreadable)
	}
	trouble := c.Why != nil || c.RootErr != nil
	return rowOf(trouble, c.Root, state, nodes, fmt.Sprintf("%#x", c.Zxid), fmt.Sprint(c.Resyncs))
}

// mostShown is how many services, and malformed nodes, of a directory are shown.
const mostShown = 20

func (v view) directory(d flight.Directory) row {
	state := "up to date"
	var services, malformed []string
	for i, s := range d.Services {
		if i < mostShown {
			services = append(services, service(s))
		}
	}
	for _, b := range d.Bad[:min(len(d.Bad), mostShown)] {
		malformed = append(malformed, b.Path+": "+errText(b.Err))
	}
	if more := len(d.Services) - mostShown; more > 0 {
		services = append(services, fmt.Sprintf("%d more", more))
	}
	if more := len(d.Bad) - mostShown; more > 0 {
		malformed = append(malformed, fmt.Sprintf("%d more", more))
	}
	switch {
	case !d.Ended.IsZero():
		state = "ENDED " + v.since(d.Ended) + " ago: " + errText(d.Why)
	case d.Err != nil:
		state = "interrupted, its path CANNOT BE READ: " + errText(d.Err)
	case !d.Filled:
		state = "not filled yet"
	case d.Interrupted:
		state = "INTERRUPTED, it may be old"
	}
	trouble := d.Why != nil || d.Err != nil || d.Filled && d.Interrupted
	return rowOf(trouble, d.Root, state, fmt.Sprintf("%#x", d.Zxid),
		strings.Join(services, "; "), strings.Join(malformed, "; "))
}

// service says what a directory has of a service.
func service(s flight.Service) string {
	text := fmt.Sprintf("%s %d", s.Name, s.Instances)
	if s.Drained > 0 {
		text += fmt.Sprintf(", %d drained", s.Drained)
	}
	return text
}
