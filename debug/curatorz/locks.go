package curatorz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// locks describes the pending acquires, and the held locks and leaderships, the oldest
// first.
func (v view) locks(all []lock) []section {
	waiting := map[string]int{}
	holders := map[string]locktrace.Contender{} // as seen by other acquires of this client, for acquires in its line
	ours := map[string]bool{}
	var holds, waits []lock
	for _, l := range matching(v, all, func(l lock) string { return l.path }) {
		if l.granted.IsZero() {
			waits = append(waits, l)
			waiting[l.path]++
			if l.waiting.Holder.Node != "" {
				holders[l.path] = l.waiting.Holder
			}
		} else {
			holds = append(holds, l)
			ours[l.path+"/"+l.node] = true
		}
	}
	for _, l := range holds {
		holders[l.path] = locktrace.Contender{Node: l.node}
	}
	for i, l := range waits {
		if l.does == inLine {
			waits[i].waiting.Holder = holders[l.path]
		}
	}
	slices.SortFunc(holds,
		func(a, b lock) int { return cmp.Or(a.granted.Compare(b.granted), cmp.Compare(a.number, b.number)) })
	slices.SortFunc(waits,
		func(a, b lock) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.number, b.number)) })
	sections := []section{
		sectionOf("waits", []string{"Lock", "Kind", "Has waited", "What it does", "Held by", "Right ahead"},
			waits, v.most, func(l lock) row { return v.wait(l, ours) }),
		sectionOf("holds", []string{"Lock", "Kind", "Held for", "State", "Token", "Node"},
			holds, v.most, func(l lock) row { return v.hold(l, waiting[l.path]) }),
	}
	sections[0].Note = "This is what the client has seen of the queues. zklock graph -r / shows all processes."
	sections[1].Note = "Waiters of other clients are not known here: zklock show PATH lists them."
	return sections
}

// kindOf returns the kind of the lock, and the user's name for it.
func kindOf(a locktrace.Acquire) string {
	kind := words(a.Recipe)
	if a.Shared {
		kind += ", reader"
	}
	if a.Leases > 1 {
		kind += fmt.Sprintf(", %d leases", a.Leases)
	}
	if a.Name != "" {
		kind += fmt.Sprintf(" %q", a.Name)
	}
	return kind
}

func (v view) hold(l lock, waiting int) row {
	state := "held"
	if l.revoked {
		state += ", asked to release it"
	}
	if waiting > 0 {
		state += fmt.Sprintf(", %d of this client waiting", waiting)
	}
	state += ", acquired in " + duration(l.granted.Sub(l.since))
	return rowOf(false, l.path, kindOf(l.what), v.since(l.granted), state, fmt.Sprint(l.token), nodeName(l.node))
}

func (v view) wait(l lock, ours map[string]bool) row {
	contender := func(c locktrace.Contender) string {
		owner := ""
		switch {
		case c.Node == "":
			return ""
		case ours[l.path+"/"+c.Node]:
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
	does := string(l.does)
	if l.does != starting {
		does += fmt.Sprintf(", %d ahead, as seen %s ago", l.waiting.Position, v.since(l.seen))
	}
	next := contender(l.waiting.Ahead)
	if next != "" && l.waiting.Ahead.Node == l.waiting.Holder.Node {
		next = "the holder"
	}
	return rowOf(false, l.path, kindOf(l.what), v.since(l.since), does, contender(l.waiting.Holder), next)
}
