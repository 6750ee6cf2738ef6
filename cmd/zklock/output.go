package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/recipes/inspect"
)

// now is the clock from which ages are counted. Tests replace it.
var now = time.Now

// view returns how results are shown at this moment. Inside a command of
// zklock run, the nodes of its session are the user's own.
func (e *env) view() view.View {
	v := view.View{Now: now(), Zone: time.Local, Wide: e.format == wide}
	var own inspect.SessionID
	if own.UnmarshalText([]byte(os.Getenv("ZKLOCK_SESSION"))) == nil {
		v.Own = own
	}
	return v
}

// isJSON reports whether the output is for programs.
func (e *env) isJSON() bool { return e.format == jsonForm }

// coloured reports whether the output is for a person at a terminal.
func (e *env) coloured() bool { return !e.noColor && terminal.Is(e.out) }

// table returns a writer of a table on the output.
func (e *env) table() *columns.Writer { return columns.New(e.out, e.coloured()) }

// paint returns a text for the output in a style.
func (e *env) paint(s columns.Style, text string) string {
	if !e.coloured() {
		return text
	}
	return s.Paint(text)
}

// writeJSON writes one object, in one line.
func (e *env) writeJSON(value any) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false) // for people who read it with less
	return enc.Encode(value)
}
