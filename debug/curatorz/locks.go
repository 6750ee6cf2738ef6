package curatorz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/recipes/locks"
)

// locks describes the acquires that are under way, and the locks and leaderships
// that are held, or were lost and are not released. The oldest are first.
func (v view) locks(s source) []section {
	waiting, ours := map[string]int{}, map[string]bool{}
	var holds, waits []flight.View
	for _, r := range matching(v, s.records, func(r flight.View) string { return r.Path }) {
		if r.IsHold() {
			holds = append(holds, r)
			ours[r.Path+"/"+r.Node] = true
		} else {
			waits = append(waits, r)
			waiting[r.Path]++
		}
	}
	slices.SortStableFunc(holds, func(a, b flight.View) int { return a.Granted.Compare(b.Granted) })
	slices.SortStableFunc(waits, func(a, b flight.View) int { return a.Since.Compare(b.Since) })
	all := []section{
		sectionOf("waits", []string{"Lock", "Kind", "Has waited", "What it does", "Held by", "Right ahead"},
			waits, v.most, func(r flight.View) row { return v.wait(r, ours) }),
		sectionOf("holds", []string{"Lock", "Kind", "Held for", "State", "Token", "Node"},
			holds, v.most, func(r flight.View) row { return v.hold(r, waiting[r.Path]) }),
	}
	all[0].Note = "This is what the client has seen of the queues. zklock graph -r / shows all processes."
	all[1].Note = "Waiters of other clients are not known here: zklock show PATH lists them."
	return all
}

// kindOf says what kind of lock it is, and what the user has called it.
func kindOf(w flight.What) string {
	kind := strings.ReplaceAll(w.Recipe, "_", " ")
	if w.Shared {
		kind += ", reader"
	}
	if w.Leases > 1 {
		kind += fmt.Sprintf(", %d leases", w.Leases)
	}
	if w.Name != "" {
		kind += fmt.Sprintf(" %q", w.Name)
	}
	return kind
}

func (v view) hold(r flight.View, waiting int) row {
	state := "held"
	switch {
	case r.Err != nil:
		state = "LOST, not released: " + errText(r.Err)
	case r.Stage == flight.Releasing:
		state = "being released"
	}
	if r.Revoked {
		state += ", asked to release it"
	}
	if waiting > 0 {
		state += fmt.Sprintf(", %d of this client waiting", waiting)
	}
	state += ", acquired in " + duration(r.Granted.Sub(r.Since))
	return rowOf(r.Err != nil, r.Path, kindOf(r.What), v.since(r.Granted), state, fmt.Sprint(r.Token), nodeName(r.Node))
}

func (v view) wait(r flight.View, ours map[string]bool) row {
	r.Locate()
	contender := func(c flight.Contender) string {
		owner := ""
		switch {
		case c.Node == "":
			return ""
		case ours[r.Path+"/"+c.Node]:
			owner = "this client"
		case len(c.Data) > 0:
			owner = locks.Participant{Data: c.Data}.ID()
		}
		text := strings.TrimSpace(owner + " (" + nodeName(c.Node) + ")")
		if !c.Since.IsZero() {
			text += " queued " + v.since(c.Since) + " ago"
		}
		return text
	}
	does := map[flight.Stage]string{
		flight.Starting: "has no node yet", flight.InProcess: "waits for others of this client",
		flight.Queued: "has queued, and has not looked yet", flight.Blocked: "waits at the server",
	}[r.Stage]
	if !r.Seen.IsZero() {
		does += fmt.Sprintf(", %d ahead, as seen %s ago", r.Ahead, v.since(r.Seen))
	}
	holder, next := contender(r.Holder), contender(r.Neighbour)
	if r.Neighbour.Node == r.Holder.Node && next != "" {
		next = "the holder"
	}
	return rowOf(false, r.Path, kindOf(r.What), v.since(r.Since), does, holder, next)
}

// events describes what happened, the newest first. Rare events, such as losses, are
// kept for longer than frequent ones, such as grants: there may be gaps between
// old events.
func (v view) events(s source) section {
	all := slices.DeleteFunc(s.events, func(e flight.Event) bool {
		return e.Path != "" && !strings.Contains(e.Path, v.filter)
	})
	slices.Reverse(all)
	return sectionOf("events", []string{"Time", "Event", "Path", "What"}, all, v.most, v.event)
}

// kind is how events of one kind are shown.
type kind struct {
	name    string
	text    func(e flight.Event) string
	trouble func(e flight.Event) bool
}

var kinds = map[flight.Kind]kind{
	flight.ClientClosed: {"client", says("closed"), never},
	flight.StateChanged: {"state", describeState, func(e flight.Event) bool { return !isConnected(e) }},

	flight.NodeChanged:     {"registration", nameOf, failed},
	flight.NodeOverwritten: {"registration", nameOf, always},

	flight.CacheFilled:      {"cache", describeFilled, never},
	flight.CacheInterrupted: {"cache", says("interrupted"), always},
	flight.CacheEnded:       {"cache", says("ended"), failed},

	flight.InstanceChanged:   {"instance", nameOf, failed},
	flight.InstanceEjected:   {"ejected", takes("for "), always},
	flight.DirectoryChanged:  {"directory", nameOf, never},
	flight.DirectoryTroubled: {"directory", nameOf, always},

	flight.Waiting:       {"waiting", describeWait, never},
	flight.Acquired:      {"acquired", takes("after "), never},
	flight.NotAcquired:   {"not acquired", describeNot, never},
	flight.AcquireFailed: {"not acquired", takes("failed after "), always},
	flight.HoldRevoked:   {"revoked", says("another client asks the holder to release it"), never},
	flight.HoldLost:      {"lost", takes("held for "), always},
	flight.Released:      {"released", describeRelease, failed},
}

func never(flight.Event) bool    { return false }
func always(flight.Event) bool   { return true }
func failed(e flight.Event) bool { return e.Err != nil }

func nameOf(e flight.Event) string { return e.Name }

func says(text string) func(flight.Event) string { return func(flight.Event) string { return text } }

// takes says how long the acquire, or the hold, has taken.
func takes(before string) func(flight.Event) string {
	return func(e flight.Event) string { return before + duration(e.Took) }
}

func isConnected(e flight.Event) bool {
	return strings.EqualFold(e.Name, "connected") || strings.EqualFold(e.Name, "reconnected")
}

func describeState(e flight.Event) string {
	if isConnected(e) {
		return strings.ToLower(e.Name) + " to " + e.Other
	}
	return strings.ToLower(e.Name)
}

func describeFilled(e flight.Event) string {
	return fmt.Sprintf("%s after %s, %s", e.Name, duration(e.Took), count(e.Count, "node"))
}

func describeWait(e flight.Event) string {
	ahead := fmt.Sprintf("%d ahead", e.Count)
	if e.Other != "" {
		ahead += ", held by " + nodeName(e.Other)
	}
	return ahead
}

func describeNot(e flight.Event) string {
	return strings.ReplaceAll(e.Other, "_", " ") + " after " + duration(e.Took)
}

// describeRelease says what a release has left, as far as that is known.
func describeRelease(e flight.Event) string {
	held := "held for " + duration(e.Took)
	switch {
	case e.Err == nil:
		return held
	case framework.IsRefusal(e.Err):
		return held + ", the node stays while the session lives"
	}
	return held + ", the node may exist until the client has deleted it, or the session ends"
}

func (v view) event(e flight.Event) row {
	k := kinds[e.Kind]
	path := e.Path
	if e.Recipe != "" {
		path += " (" + kindOf(flight.What{Recipe: e.Recipe, Name: e.Name}) + ")"
	}
	text := k.text(e)
	if e.Err != nil {
		text += ": " + errText(e.Err)
	}
	return rowOf(k.trouble(e), clock(v.now, e.Time), k.name, path, text)
}
