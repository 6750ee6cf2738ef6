package view

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// Wait is the JSON of a lock that participants wait for.
type Wait struct {
	Type    string         `json:"type"` // "wait"
	Path    string         `json:"path"`
	Recipe  inspect.Kind   `json:"recipe"`
	MayBe   []inspect.Kind `json:"may_be,omitempty"`
	Waiters []Participant  `json:"waiters"`
	Holders []Participant  `json:"holders"`
	Any     bool           `json:"any,omitempty"` // one of the holders is enough
}

// Deadlock is the JSON of a deadlock.
type Deadlock struct {
	Type      string    `json:"type"` // "deadlock"
	Processes []string  `json:"processes"`
	Cycle     []Blocked `json:"cycle"`
	Since     time.Time `json:"since"`
	Age       *Seconds  `json:"age_seconds,omitempty"`
	Doubts    []string  `json:"doubts,omitempty"`
}

// Blocked is the JSON of one part of a cycle.
type Blocked struct {
	Path   string       `json:"path"`
	Recipe inspect.Kind `json:"recipe"`
	Waiter Participant  `json:"waiter"`
	Holder Participant  `json:"holder"`
}

// Hidden is the JSON of a path whose children the client may not list.
type Hidden struct {
	Type string `json:"type"` // "unreadable"
	Path string `json:"path"`
}

// Graph returns the JSON lines of a graph: deadlocks first, then waits, and then
// unreadable paths.
func (v View) Graph(g inspect.Graph) (lines []any) {
	for _, d := range g.Deadlocks {
		lines = append(lines, v.deadlock(d))
	}
	for _, w := range g.Waits {
		line := Wait{Type: "wait", Path: w.Path, Recipe: w.Kind, MayBe: w.MayBe, Any: w.Any}
		for _, waiter := range w.Waiters {
			line.Waiters = append(line.Waiters, v.Participant(w.Kind, waiter, Waiter))
		}
		for _, holder := range w.Holders {
			line.Holders = append(line.Holders, v.Participant(w.Kind, holder, Holder))
		}
		lines = append(lines, line)
	}
	for _, path := range g.Unreadable {
		lines = append(lines, Hidden{Type: "unreadable", Path: path})
	}
	return lines
}

func (v View) deadlock(d inspect.Deadlock) Deadlock {
	line := Deadlock{Type: "deadlock", Processes: d.Processes, Since: d.Since, Age: v.age(d.Since), Doubts: d.Doubts}
	for _, b := range d.Cycle {
		line.Cycle = append(line.Cycle, Blocked{
			Path: b.Path, Recipe: b.Kind,
			Waiter: v.Participant(b.Kind, b.Waiters[0], Waiter), Holder: v.Participant(b.Kind, b.Holders[0], Holder),
		})
	}
	return line
}

// DeadlockText describes the processes of a deadlock, and the reasons why it may not be
// one. The first line is the title.
func (v View) DeadlockText(d inspect.Deadlock) (lines []string) {
	lines = append(lines, fmt.Sprintf("DEADLOCK of %d processes, for %s", len(d.Processes), v.ageText(d.Since)))
	name := func(i int) string { return printable.String(d.Processes[i%len(d.Processes)]) }
	for i, part := range d.Cycle {
		lines = append(lines, fmt.Sprintf("  %s waits for %s %s, which %s holds",
			name(i), part.Kind, printable.String(part.Path), name(i+1)))
	}
	for _, doubt := range d.Doubts {
		lines = append(lines, "  In doubt: "+doubtText(doubt)+".")
	}
	return lines
}

func doubtText(doubt string) string {
	switch doubt {
	case "several_tasks":
		return "a process may hold and wait in different threads, and so go on"
	case "may_lead":
		return "a lock may be a leader election, whose candidates work while they wait"
	case "limit_not_known":
		return "the limit of a semaphore is not known, and it may have leases left"
	}
	return doubt
}

// WaitHeader returns the names of the columns of WaitRows.
func (v View) WaitHeader() []string {
	return []string{"WAITER", "WAITED", "FOR", "KIND", "HELD BY"}
}

// WaitRows returns the rows of a lock in a graph, one for each waiter.
func (v View) WaitRows(w inspect.Wait) (rows [][]columns.Cell) {
	for _, waiter := range w.Waiters {
		rows = append(rows, v.waitRow(w, waiter))
	}
	return rows
}

func (v View) waitRow(w inspect.Wait, waiter inspect.Participant) []columns.Cell {
	row := columns.Cells(v.name(waiter.String()), v.ageText(waiter.Since),
		printable.String(w.Path), string(w.Kind), "")
	if len(w.Holders) > 0 {
		row[4].Text = v.name(w.Holders[0].String())
	}
	if more := len(w.Holders) - 1; more > 0 {
		row[4].Text += fmt.Sprintf(" +%d", more)
	}
	return row
}
