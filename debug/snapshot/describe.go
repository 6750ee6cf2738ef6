package snapshot

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/debug/internal/brief"
)

// These methods describe parts of a snapshot in a few words, which can be
// printed. The text and the page share them.

// headline says how the client does, such as "connected for 3h0m0s".
func (c *Client) headline(now time.Time) string {
	switch {
	case c.Closed:
		return "closed"
	case c.State.NeverConnected, c.State.Since.IsZero():
		return "connecting, never connected"
	default:
		return p(c.State.Name) + " for " + brief.Since(now, c.State.Since)
	}
}

func (s *Session) describe(now time.Time) string {
	left := brief.Duration(s.Left.Duration()) + " left of " + brief.Duration(s.Timeout.Duration())
	switch {
	case s.Ended != "":
		left = "over: " + p(s.Ended)
	case s.Left <= 0:
		left = "its time is up, of " + brief.Duration(s.Timeout.Duration())
	}
	strict := ""
	if s.StrictContact {
		strict = "strict contact"
	}
	return brief.List(left, "last contact "+brief.Since(now, s.LastContact)+" ago", "server "+p(s.Server),
		fmt.Sprintf("number %d", s.Epoch), brief.Policy(s.ErrorPolicy, s.SafetyMargin, s.Timeout.Duration()), strict)
}

func (s Server) describe(now time.Time) string {
	state, unlisted := "", ""
	switch {
	case s.Connected:
		state = "connected"
	case s.Attempts == 0:
		state = "not tried"
	}
	if !s.Listed {
		unlisted = "not in the list"
	}
	tried, failed := "", ""
	if s.Attempts > 0 {
		tried = brief.Count(s.Attempts, "attempt") + ", the last " + brief.Since(now, s.Last) + " ago"
	}
	if s.Failures > 0 {
		failed = fmt.Sprintf("%d failed", s.Failures)
	}
	return brief.List(state, unlisted, tried, failed, p(s.Error))
}

func (w Watch) describe() string {
	set := ""
	if !w.Set {
		set = "not set yet"
	}
	return brief.List(p(w.Kind), brief.Count(w.Waiters, "waiter"), set)
}

// what says what kind of lock it is, and what the user has called it.
func (h Hold) what() string { return what(h.Recipe, h.Name, h.Shared, h.Leases) }

func (w Wait) what() string { return what(w.Recipe, w.Name, w.Shared, w.Leases) }

func what(recipe, name string, shared bool, leases int) string {
	kind := strings.ReplaceAll(p(recipe), "_", " ")
	if shared {
		kind += ", reader"
	}
	if leases > 0 {
		kind += fmt.Sprintf(", %d leases", leases)
	}
	if name != "" {
		kind += " " + p(fmt.Sprintf("%q", name))
	}
	return kind
}

func (h Hold) describe() string {
	var state, revoked, waiting string
	switch {
	case h.Lost != "":
		state = "LOST, not released: " + p(h.Lost)
	case h.Releasing:
		state = "being released"
	}
	if h.Revoked {
		revoked = "asked to release it"
	}
	if h.Waiting > 0 {
		waiting = brief.Waiting(h.Waiting)
	}
	return brief.List(state, revoked, waiting, "waited "+brief.Duration(h.Waited.Duration()), "node "+brief.Node(h.Node), fmt.Sprintf("token %d", h.Token))
}

func (w Wait) describe(now time.Time) string {
	stage := brief.Stage(w.Stage)
	if w.Stage == "in process" || w.Stage == "waiting" {
		stage += fmt.Sprintf(", %d ahead", w.Ahead)
	}
	seen := ""
	if !w.Seen.IsZero() {
		seen = "seen " + brief.Since(now, w.Seen) + " ago"
	}
	var holder, next string
	if w.Holder != nil {
		holder = "held by " + w.Holder.describe(now)
	}
	if w.Next != nil && (w.Holder == nil || w.Next.Node != w.Holder.Node) {
		next = "right ahead " + w.Next.describe(now)
	}
	return brief.List(stage, holder, next, seen)
}

func (c *Contender) describe(now time.Time) string {
	owner := p(c.ID)
	if c.Local {
		owner = "this client"
	}
	since := ""
	if !c.Since.IsZero() {
		since = " queued " + brief.Since(now, c.Since) + " ago"
	}
	if owner == "" {
		return brief.Node(c.Node) + since
	}
	return owner + " (" + brief.Node(c.Node) + ")" + since
}

func (r Registration) describe(now time.Time) string {
	node := ""
	if r.Node != "" && !r.Registered {
		node = "node " + p(r.Node)
	}
	switch {
	case !r.Ended.IsZero():
		return brief.List("ENDED "+brief.Since(now, r.Ended)+" ago", p(r.Trouble), node)
	case r.Deleting:
		return brief.List("ended, the node is not deleted yet and may exist", node, p(r.Trouble))
	case r.Registered && r.Node != r.Path:
		return fmt.Sprintf("registered for %s as %s, czxid %#x", brief.Since(now, r.Since), p(r.Node), r.Czxid)
	case r.Registered:
		return fmt.Sprintf("registered for %s, czxid %#x", brief.Since(now, r.Since), r.Czxid)
	default:
		return brief.List("NOT registered for "+brief.Since(now, r.Since), p(r.Trouble))
	}
}

func (c Cache) describe(now time.Time) string {
	state := "up to date"
	switch {
	case !c.Ended.IsZero():
		state = "ENDED " + brief.Since(now, c.Ended) + " ago: " + p(c.Error)
	case c.Trouble != "":
		state = "the root CANNOT BE READ: " + p(c.Trouble)
	case !c.Synced:
		state = "not filled yet"
	case c.Lag > 0:
		state = "behind for " + brief.Duration(c.Lag.Duration())
	case c.Unreadable > 0:
		state = "up to date but for what cannot be read"
	}
	unreadable := ""
	if c.Unreadable > 0 {
		unreadable = fmt.Sprintf("%d unreadable", c.Unreadable)
	}
	reads, behind, resyncs := "", "", ""
	if c.ToRead > 0 {
		reads = brief.Count(c.ToRead, "read") + " to do"
	}
	if c.Behind > 0 {
		behind = brief.Count(c.Behind, "transaction") + " behind"
	}
	if c.Resyncs > 0 {
		resyncs = brief.Count(c.Resyncs, "resync")
	}
	return brief.List(state, brief.Count(c.Nodes, "node"), unreadable, reads, behind, fmt.Sprintf("as of %#x", c.Zxid), resyncs)
}

func (i Instance) describe(now time.Time) string {
	state := brief.Instance(i.State)
	if i.State == "draining" {
		state += ", registered"
	}
	return brief.List(state+" for "+brief.Since(now, i.Since), p(i.Trouble), "node "+p(i.Node))
}

func (d Directory) describe(now time.Time) string {
	state := "up to date"
	switch {
	case !d.Ended.IsZero():
		state = "ENDED " + brief.Since(now, d.Ended) + " ago: " + p(d.Error)
	case d.Trouble != "":
		state = "interrupted, its path CANNOT BE READ: " + p(d.Trouble)
	case !d.Filled:
		state = "not filled yet"
	case d.Interrupted:
		state = "INTERRUPTED, it may be old"
	}
	malformed := ""
	if d.Malformed.Total > 0 {
		malformed = fmt.Sprintf("%d malformed", d.Malformed.Total)
	}
	return brief.List(state, brief.Count(d.Instances, "instance"), brief.Count(d.Services.Total, "service"),
		malformed, fmt.Sprintf("as of %#x", d.Zxid))
}

func (s Service) describe() string {
	drained := ""
	if s.Drained > 0 {
		drained = fmt.Sprintf("%d drained", s.Drained)
	}
	return brief.List(brief.Count(s.Instances, "instance"), drained)
}

func (e Event) describe() string { return brief.List(p(e.Text), p(e.Cause)) }
