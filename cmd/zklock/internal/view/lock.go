package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// Lock is the JSON of a recipe. A free lock has only a path.
type Lock struct {
	Path   string         `json:"path"`
	Recipe inspect.Kind   `json:"recipe,omitempty"`
	Layout string         `json:"layout,omitempty"`
	MayBe  []inspect.Kind `json:"may_be,omitempty"`

	Holders int  `json:"holders"`
	Waiters int  `json:"waiters"`
	Unread  int  `json:"unread,omitempty"` // participants that were not read
	Limit   *int `json:"limit,omitempty"`
	Items   int  `json:"items,omitempty"`

	// Holder is the first holder, and HolderAge is the time since its node was created.
	Holder     string     `json:"holder,omitempty"`
	HolderNode string     `json:"holder_node,omitempty"`
	HolderAge  *Seconds   `json:"holder_age_seconds,omitempty"`
	Since      *time.Time `json:"since,omitempty"` // the creation of the first holder's node, or of the first item

	Waited *Seconds `json:"waited_seconds,omitempty"` // how long the first waiter has waited
	Reason string   `json:"reason,omitempty"`         // why the recipe is unreadable

	// Participants are present if requested.
	Participants []Participant `json:"participants,omitempty"`
}

// Lock returns the JSON of a recipe without its participants.
func (v View) Lock(r inspect.Recipe) Lock {
	l := Lock{
		Path: r.Path, Recipe: r.Kind, Layout: r.Layout, MayBe: r.MayBe, Reason: r.Reason,
		Holders: len(r.Holders), Waiters: len(r.Waiters), Unread: r.Unread, Limit: r.Limit, Items: r.Items,
	}
	if since := sinceOf(r); !since.IsZero() {
		l.Since = &since
	}
	if len(r.Holders) > 0 {
		l.Holder, l.HolderNode = r.Holders[0].ID, r.Holders[0].Path
		l.HolderAge = v.age(r.Holders[0].Since)
	}
	if len(r.Waiters) > 0 {
		l.Waited = v.age(r.Waiters[0].Since)
	}
	return l
}

// sinceOf returns when the first holder's node, or the first item, was created.
func sinceOf(r inspect.Recipe) time.Time {
	if len(r.Holders) > 0 {
		return r.Holders[0].Since
	}
	return r.Since
}

// LockHeader returns the names of the columns of LockRow.
func (v View) LockHeader() []string {
	return []string{"PATH", "KIND", "HELD", "WAITING", "HOLDER", "SINCE", "AGE", "WAITED"}
}

// LockRow returns the row of a recipe in a list of recipes.
func (v View) LockRow(r inspect.Recipe) []columns.Cell {
	since := sinceOf(r)
	row := []columns.Cell{
		{Text: printable.String(r.Path)}, {Text: string(r.Kind)}, heldCell(r), {Text: waiting(r)}, v.holderCell(r),
		{Text: v.clock(since)}, {Text: v.ageText(since)}, {},
	}
	if len(r.Waiters) > 0 {
		row[7].Text = v.ageText(r.Waiters[0].Since)
	}
	return row
}

// heldCell shows the number of holders of a recipe, and the limit.
func heldCell(r inspect.Recipe) columns.Cell {
	text := strconv.Itoa(len(r.Holders))
	if isUndecided(r) {
		text = "?"
	}
	switch {
	case r.Kind == inspect.Unreadable:
		return columns.Cell{}
	case r.Limit != nil:
		text += "/" + strconv.Itoa(*r.Limit)
	case r.Kind == inspect.Semaphore:
		text += "/?"
	}
	return columns.Cell{Text: text}
}

// isUndecided reports whether it is not known who holds a recipe, or whether it is held
// at all.
func isUndecided(r inspect.Recipe) bool { return len(r.Holders)+len(r.Waiters) == 0 && r.Unread > 0 }

// waiting shows the number of waiting participants, or of items in a queue. The number
// includes participants that were not read, except for registrations.
func waiting(r inspect.Recipe) string {
	switch {
	case r.Kind == inspect.Queue:
		return plural(r.Items, "item")
	case r.Kind == inspect.Unreadable:
		return ""
	case r.Unread > 0:
		return fmt.Sprintf("%d+%d", len(r.Waiters), r.Unread)
	}
	return strconv.Itoa(len(r.Waiters))
}

func (v View) holderCell(r inspect.Recipe) columns.Cell {
	if r.Kind == inspect.Unreadable {
		return columns.Cell{Text: printable.String(r.Reason), Style: columns.Warn}
	}
	if len(r.Holders) == 0 {
		return columns.Cell{}
	}
	cell := v.remark(columns.Cell{Text: v.owner(r.Holders[0]), Style: columns.Good}, r.Holders[0])
	if more := len(r.Holders) - 1; more > 0 {
		cell.Text += fmt.Sprintf(" +%d", more)
	}
	return cell
}

// isNamed reports whether a node names its owner, in this library's form or as the
// instance of a service.
func isNamed(p inspect.Participant) bool {
	return p.Service != "" || p.Host != "" || p.PID != 0 || p.Instance != nil
}

// longestName is how many columns of a name a table shows. JSON has the whole name.
// Nodes may contain names that do not fit a screen.
const longestName = 60

// name shows a name that an owner has chosen.
func (v View) name(text string) string {
	return columns.Shorten(printable.String(text), longestName)
}

// owner names the owner of a node. If the data is in a foreign form, the name is "?"
// and the beginning of the data.
func (v View) owner(p inspect.Participant) string {
	switch {
	case isNamed(p):
		return v.name(p.ID)
	case p.Unreadable:
		return "? may not be read"
	case p.ID == "" || p.ID == "unknown":
		return "?"
	default:
		return "? " + v.name(p.ID)
	}
}

// Title is the line about a recipe above the table of its participants.
func (v View) Title(r inspect.Recipe) string {
	text := printable.String(r.Path) + "  " + string(r.Kind)
	if len(r.MayBe) > 0 {
		text += " (may be " + kindsText(r.MayBe) + ")"
	}
	switch {
	case r.Kind == inspect.Unreadable:
		return text + ": " + printable.String(r.Reason)
	case r.Kind == inspect.Queue:
		text += ", " + plural(r.Items, "item")
		if !r.Since.IsZero() {
			text += ", the first since " + v.clock(r.Since)
		}
	case r.Kind == inspect.Registrations:
		text += ", " + plural(len(r.Holders), "node")
	case isUndecided(r):
		text += ", may be held"
	default:
		text += fmt.Sprintf(", held by %d, %d waiting", len(r.Holders), len(r.Waiters))
	}
	if r.Limit != nil {
		text += fmt.Sprintf(", limit %d", *r.Limit)
	} else if r.Kind == inspect.Semaphore {
		text += ", limit not known"
	}
	if r.Unread > 0 {
		text += fmt.Sprintf(", %d not read", r.Unread)
	}
	return text
}

func kindsText(kinds []inspect.Kind) string {
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = string(k)
	}
	return strings.Join(texts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
