package main

import (
	"context"
	"flag"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

var watchCommand = &command{
	Name:    "watch",
	Purpose: "follow what happens at a lock",
	Usage:   "[flags] PATH",
	MinArgs: 1,
	MaxArgs: 1,
	Long: `
Everybody who is there is "seen" first. After that, each line is one that has
"enqueued", was "granted" the lock, "released" it, or "abandoned" the queue. A
node that is gone may have been released, lost or deleted. The command reads the
queue after each change; what comes and goes in between is not shown. It goes on
after outages, until a signal. The server must be 3.6 or later.

  zklock watch -o json /jobs/bill | jq -r 'select(.event == "granted").time'
`,
	Define: func(fs *flag.FlagSet) action {
		limits := defineLimits(fs)
		return func(ctx context.Context, e *env) error {
			c, err := e.connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			return follow(ctx, e, c, limitsAt(*limits))
		}
	},
}

// follow prints what happens at a lock until ctx ends.
func follow(ctx context.Context, e *env, c *framework.Client, opts []inspect.Option) error {
	w, err := c.NewWatcher(ctx, e.args[0], framework.WithRecursion())
	if err != nil {
		return err
	}
	defer w.Close()
	table := e.table()
	table.Reserve(view.EventWidths...)
	if !e.isJSON() {
		table.Header(e.view().EventHeader()...)
	}
	var before view.Look
	for {
		after, err := look(ctx, c, e.args[0], opts)
		if err != nil {
			return err
		}
		after.KeepNames(before)
		if err := e.printEvents(table, e.view().Events(before, after)); err != nil {
			return err
		}
		before = after
		if err := nextChange(ctx, w); err != nil {
			return err
		}
	}
}

// look reads a lock. After an outage it tries again.
func look(ctx context.Context, c *framework.Client, path string, opts []inspect.Option) (view.Look, error) {
	var recipes []inspect.Recipe
	err := throughOutages(ctx, c, func() (err error) {
		recipes, err = recipesAt(ctx, c, path, opts...)
		return err
	})
	return view.LookAt(recipes), err
}

// nextChange waits for a change, and takes all that have come by then as one.
func nextChange(ctx context.Context, w *framework.Watcher) error {
	_, err := w.Next(ctx)
	for more := err == nil; more && err == nil; {
		_, more, err = w.Poll()
	}
	return err
}

func (e *env) printEvents(table *columns.Writer, events []view.Event) error {
	for _, event := range events {
		if !e.isJSON() {
			table.Row(e.view().EventRow(event)...)
		} else if err := e.writeJSON(event); err != nil {
			return err
		}
	}
	return table.Flush()
}
