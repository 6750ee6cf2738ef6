package snapshot

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locks"
)

// Of takes a snapshot of clients. It sends nothing, and waits for no server. A
// client that is given twice, or by several of its views, shows up once. A nil
// client is left out. A closed client shows its last events.
func Of(clients ...*framework.Client) Snapshot { return Matching("", clients...) }

// Matching is Of with only what has the text in its path: holds, waits,
// registrations, caches, directories, watches and events. Events of a connection,
// which have no path, stay. It finds what the lists of Of leave out.
func Matching(path string, clients ...*framework.Client) Snapshot {
	s := Snapshot{
		Version: Version, Time: time.Now(), Filter: path,
		Process: Process{
			Program: filepath.Base(os.Args[0]), Host: hostname.Get(), PID: os.Getpid(),
			GoVersion: runtime.Version(), Goroutines: runtime.NumGoroutine(),
		},
		Clients: []Client{},
	}
	seen := map[framework.Extension]bool{}
	for _, c := range clients {
		if c == nil {
			continue
		}
		root := framework.Extend(c).Root()
		if !seen[root] {
			seen[root] = true
			s.Clients = append(s.Clients, ofClient(root, path))
		}
	}
	return s
}

func ofClient(e framework.Extension, path string) Client {
	status, recorder := e.Status(), insider.Of(e).Recorder()
	followers := recorder.Followers()
	registrations := matching(followers.Registrations.All(), path, func(r flight.Registration) string { return cmp.Or(r.Node, r.Path) })
	directories := matching(followers.Directories.All(), path, func(d flight.Directory) string { return d.Root })
	caches := matching(followers.Caches.All(), path, func(c flight.Cache) string { return c.Root })
	watches := matching(status.Watches, path, func(w framework.WatchStatus) string { return w.Path })
	c := Client{
		Service: e.ServiceName(), Chroot: status.Chroot, Closed: status.Closed,
		State:          stateOf(&status),
		Session:        sessionOf(status.Session),
		Servers:        converted(status.Servers, serverOf),
		ServersProblem: text(status.ServersProblem),
		Watches:        listOf(watches, watchOf),
		WatchesSet:     watchesSet(watches),
		Registrations:  listOf(inOrder(registrations, byPath), registrationOf),
		Caches:         listOf(inOrder(caches, byRoot), cacheOf),
		Instances:      listOf(instancesOf(registrations), func(i Instance) Instance { return i }),
		Directories:    listOf(inOrder(directories, byRootOf), directoryOf),
		Events:         converted(newest(eventsMatching(recorder.Events(), path)), eventOf),
		Recorded:       recorder != nil,
	}
	holds, waits := split(matching(recorder.Records(), path, func(v flight.View) string { return v.Path }))
	waiting := map[string]int{}
	for _, w := range waits {
		waiting[w.Path]++
	}
	c.Holds = listOf(holds, func(v flight.View) Hold { return holdOf(v, waiting[v.Path]) })
	ours := map[string]bool{}
	for _, h := range holds {
		ours[h.Path+"/"+h.Node] = true
	}
	c.Waits = listOf(waits, func(v flight.View) Wait { return waitOf(v, ours) })
	return c
}

// matching returns those that have the text in their path.
func matching[T any](all []T, text string, path func(T) string) []T {
	return slices.DeleteFunc(all, func(one T) bool { return !strings.Contains(path(one), text) })
}

func eventsMatching(all []flight.Event, text string) []flight.Event {
	return slices.DeleteFunc(all, func(e flight.Event) bool { return e.Path != "" && !strings.Contains(e.Path, text) })
}

// listOf converts the first MaxItems.
func listOf[From, To any](all []From, convert func(From) To) List[To] {
	return List[To]{Total: len(all), Items: converted(all[:min(len(all), MaxItems)], convert)}
}

func converted[From, To any](all []From, convert func(From) To) []To {
	list := make([]To, 0, len(all)) // not nil, which JSON calls null
	for _, one := range all {
		list = append(list, convert(one))
	}
	return list
}

// split returns the holds and the waits, the oldest first.
func split(records []flight.View) (holds, waits []flight.View) {
	for _, v := range records {
		if v.IsHold() {
			holds = append(holds, v)
		} else {
			waits = append(waits, v)
		}
	}
	slices.SortStableFunc(holds, func(a, b flight.View) int { return a.Granted.Compare(b.Granted) })
	slices.SortStableFunc(waits, func(a, b flight.View) int { return a.Since.Compare(b.Since) })
	return holds, waits
}

// inOrder sorts by path and transaction. Those that have ended are first: a long
// list is cut off.
func inOrder[T any](all []T, key func(T) (end flight.End, path string, zxid int64)) []T {
	slices.SortFunc(all, func(a, b T) int {
		endA, pathA, zxidA := key(a)
		endB, pathB, zxidB := key(b)
		return cmp.Or(endedFirst(endA, endB), cmp.Compare(pathA, pathB), cmp.Compare(zxidA, zxidB))
	})
	return all
}

// byPath, byRoot and byRootOf are the keys for inOrder.
func byPath(r flight.Registration) (flight.End, string, int64) { return r.End, r.Path, r.Czxid }
func byRoot(c flight.Cache) (flight.End, string, int64)        { return c.End, c.Root, c.Zxid }
func byRootOf(d flight.Directory) (flight.End, string, int64)  { return d.End, d.Root, d.Zxid }

func endedFirst(a, b flight.End) int {
	switch {
	case a.Ended.IsZero() == b.Ended.IsZero():
		return 0
	case b.Ended.IsZero():
		return -1
	default:
		return 1
	}
}

func stateOf(s *framework.Status) State {
	return State{
		Name: strings.ToLower(s.State.String()), Since: s.Since, Cause: text(s.Cause), NeverConnected: s.NeverConnected,
	}
}

func sessionOf(s *framework.SessionStatus) *Session {
	if s == nil {
		return nil
	}
	return &Session{
		ID: "0x" + strconv.FormatUint(uint64(s.ID), 16), Epoch: s.Epoch, Established: s.Established,
		Server: s.Server, Timeout: Seconds(s.Timeout), Left: Seconds(s.Left), LastContact: s.LastContact,
		Ended: text(s.Ended), ErrorPolicy: s.ErrorPolicy.String(),
		SafetyMargin: s.SafetyMargin, StrictContact: s.StrictContact,
	}
}

func serverOf(s framework.ServerStatus) Server {
	return Server{
		Address: s.Address, Connected: s.Connected, Listed: s.Listed,
		Attempts: s.Attempts, Failures: s.Failures, Last: s.Last, Error: text(s.Err),
	}
}

func watchesSet(all []framework.WatchStatus) (n int) {
	for _, w := range all {
		if w.Set {
			n++
		}
	}
	return n
}

func watchOf(w framework.WatchStatus) Watch {
	kind := "data"
	switch {
	case w.Recursive:
		kind = "persistent recursive"
	case w.Persistent:
		kind = "persistent"
	case w.Children:
		kind = "children"
	}
	return Watch{Path: w.Path, Kind: kind, Waiters: w.Waiters, Set: w.Set}
}

func holdOf(v flight.View, waiting int) Hold {
	return Hold{
		Path: v.Path, Recipe: v.Recipe, Name: v.Name, Shared: v.Shared, Leases: leases(v.Leases), Node: v.Node, Token: v.Token,
		Since: v.Granted, Waited: Seconds(v.Granted.Sub(v.Since)), Waiting: waiting, Revoked: v.Revoked,
		Releasing: v.Stage == flight.Releasing, Lost: text(v.Err),
	}
}

func waitOf(v flight.View, ours map[string]bool) Wait {
	v.Locate()
	contender := func(c flight.Contender) *Contender {
		if c.Node == "" {
			return nil
		}
		shown := &Contender{Node: printable.String(c.Node), Since: sane(c.Since), Local: ours[v.Path+"/"+c.Node]}
		if len(c.Data) > 0 {
			shown.ID = locks.Participant{Data: c.Data}.ID()
		}
		return shown
	}
	return Wait{
		Path: v.Path, Recipe: v.Recipe, Name: v.Name, Shared: v.Shared, Leases: leases(v.Leases),
		Since: v.Since, Stage: v.Stage.String(), Ahead: v.Ahead, Seen: v.Seen, Node: v.Node,
		Next: contender(v.Neighbour), Holder: contender(v.Holder),
	}
}

// sane leaves out what a server has said in a year that JSON cannot have.
func sane(t time.Time) time.Time {
	if year := t.Year(); year < 1 || year > 9999 {
		return time.Time{}
	}
	return t
}

// leases leaves out what is nothing special.
func leases(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

func registrationOf(r flight.Registration) Registration {
	over := r.Deleting || !r.Ended.IsZero()
	return Registration{
		Path: r.Path, Node: r.Node, Registered: r.Node != "" && !over, Czxid: r.Czxid, Since: r.Changed,
		Trouble: text(cmp.Or(r.Why, r.Err)), Deleting: r.Deleting, Ended: r.Ended,
	}
}

func cacheOf(c flight.Cache) Cache {
	return Cache{
		Root: c.Root, Synced: c.Synced, Nodes: c.Nodes, ToRead: c.ToRead, Zxid: c.Zxid,
		Lag: Seconds(c.Lag), Behind: c.Behind, Resyncs: c.Resyncs,
		Unreadable: c.Unreadable, Trouble: text(c.RootErr), Error: text(c.Why), Ended: c.Ended,
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err) // fmt survives a user's Error method that panics
}

// newest returns the last MaxItems events.
func newest(all []flight.Event) []flight.Event { return all[max(0, len(all)-MaxItems):] }
