package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// view returns the view for results at this moment. Inside a command of zklock run, the
// nodes of that run's session count as the user's own.
func (e *env) view() view.View {
	own, _ := strconv.ParseUint(os.Getenv("ZKLOCK_SESSION"), 0, 64)
	return view.View{Now: time.Now(), Zone: time.Local, Own: int64(own)}
}

// isJSON reports whether the output is for programs.
func (e *env) isJSON() bool { return e.format == jsonForm }

// coloured reports whether the output is for a person at a terminal.
func (e *env) coloured() bool { return e.coloursOn(e.out) }

// coloursOn reports whether a stream is a terminal that may show colours.
func (e *env) coloursOn(stream any) bool { return !e.noColor && terminal.Is(fileOf(stream)) }

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
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // for people who read the JSON
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := e.out.Write(printable.JSON(line.Bytes()))
	return err
}

// orMissing turns the error of a missing root into words.
func orMissing(err error, roots ...string) error {
	if !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	var op *framework.OpError
	if errors.As(err, &op) {
		roots = []string{op.Path}
	}
	return statusError{refused, fmt.Errorf("%s: there is no such node", printable.String(strings.Join(roots, ", ")))}
}
