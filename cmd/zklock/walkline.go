package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// walkLine is a line on a terminal that says how far a long walk has come. It
// is for one goroutine.
type walkLine struct {
	out   io.Writer // nil if stderr is no terminal
	width int
	nodes int
	due   time.Time // the line changes no earlier
	shown bool
}

// How often the line changes. A walk that is shorter shows none.
const walkLineInterval = 200 * time.Millisecond

// walkLine returns the line of a walk. It must be cleared.
func (e *env) walkLine() *walkLine {
	p := &walkLine{due: time.Now().Add(walkLineInterval)}
	// Not through the notes: the rows of the same terminal are written directly,
	// and each must find the line gone. No lock is held meanwhile.
	if tty := fileOf(e.err); terminal.Is(tty) {
		p.out, p.width = tty, terminal.Width(tty)
	}
	return p
}

// option has a walk report to the line.
func (p *walkLine) option() inspect.Option {
	return inspect.WithFilter(func(path string) bool {
		p.enter(path)
		return true
	})
}

// enter counts a node that a walk visits, and shows how far the walk has come if
// the line is due.
func (p *walkLine) enter(path string) {
	p.nodes++
	if p.out == nil || time.Now().Before(p.due) {
		return
	}
	p.due, p.shown = time.Now().Add(walkLineInterval), true
	text := fmt.Sprintf("%d nodes, at %s", p.nodes, printable.String(path))
	fmt.Fprint(p.out, "\r\x1b[K"+clip(text, p.width-1))
}

// clear removes the line. It comes back with the next report.
func (p *walkLine) clear() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// above returns a writer that clears the line before each write: rows of the
// same terminal do not mix with it.
func (p *walkLine) above(w io.Writer) io.Writer { return aboveWalkLine{p, w} }

type aboveWalkLine struct {
	line *walkLine
	io.Writer
}

func (a aboveWalkLine) Write(b []byte) (int, error) {
	a.line.clear()
	return a.Writer.Write(b)
}
