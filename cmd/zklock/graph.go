package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// deadlocked is the exit status of graph if there is a deadlock.
const deadlocked = 2

var graphCommand = &command{
	Name:    "graph",
	Purpose: "show who waits for whom across locks, and deadlocks",
	Usage:   "[flags] [ROOT...]",
	MaxArgs: -1,
	Long: `
Deadlocks come first, with their processes and locks. graph shows a deadlock if
nothing has changed for a second. A note says why a cycle may be no deadlock.
The exit status is 2 if there is a deadlock, and 0 if there is none.

  zklock graph -r /
`,
	Define: defineGraph,
}

func defineGraph(fs *flag.FlagSet) action {
	recursive := fs.Bool("r", false, "everything below the roots")
	cli.Alias(fs, "r", "recursive")
	return func(ctx context.Context, e *env) error {
		c, err := e.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		roots := e.args
		if len(roots) == 0 {
			roots = []string{"/"}
		}
		g, err := inspect.WaitGraph(ctx, c, roots, rangeOf(*recursive)...)
		if err != nil {
			return orMissing(err, roots...)
		}
		if err := e.printGraph(g, whereLooked(*recursive, roots...)); err != nil {
			return err
		}
		if len(g.Deadlocks) > 0 {
			return statusError{status: deadlocked}
		}
		return nil
	}
}

func (e *env) printGraph(g inspect.Graph, where string) error {
	v := e.view()
	if !e.isJSON() {
		return e.graphTable(v, g, where)
	}
	for _, line := range v.Graph(g) {
		if err := e.writeJSON(line); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) graphTable(v view.View, g inspect.Graph, where string) error {
	for _, d := range g.Deadlocks {
		lines := v.DeadlockText(d)
		fmt.Fprintln(e.out, e.paint(columns.Bad, lines[0]))
		for _, line := range lines[1:] {
			fmt.Fprintln(e.out, line)
		}
		fmt.Fprintln(e.out)
	}
	for _, path := range g.Unreadable {
		fmt.Fprintf(e.err, "%s cannot be read: its waits are not known\n", printable.String(path))
	}
	if len(g.Waits) == 0 {
		fmt.Fprintln(e.err, "no waits"+where)
		return nil
	}
	table := e.table()
	table.Header(v.WaitHeader()...)
	for _, w := range g.Waits {
		for _, row := range v.WaitRows(w) {
			table.Row(row...)
		}
	}
	return table.Flush()
}
