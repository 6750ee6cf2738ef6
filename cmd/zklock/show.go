package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

var showCommand = &command{
	Name:    "show",
	Purpose: "show who holds a lock, and the queue",
	Usage:   "[flags] PATH",
	MinArgs: 1,
	MaxArgs: 1,
	Long: `
Holders are marked "*", and waiters have the number of their turn: readers that
will enter together share a turn. "*?" marks a participant that may hold, or not
yet. "(own)" marks the session of the zklock run around this command, and "?" an
owner whose node has another form. zklock free needs NODE and CZXID.

  zklock show /jobs/bill
  zklock show -o json /jobs/bill | jq '.participants[0].host'
`,
	Define: func(*flag.FlagSet) action {
		return func(ctx context.Context, e *env) error {
			c, err := e.connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			return show(ctx, e, c)
		}
	},
}

// show prints all recipes of one path.
func show(ctx context.Context, e *env, c *framework.Client) error {
	recipes, err := recipesAt(ctx, c, e.args[0])
	if err != nil {
		return err
	}
	v := e.view()
	if len(recipes) == 0 {
		if e.isJSON() {
			return e.writeJSON(view.Lock{Path: e.args[0]})
		}
		_, err = fmt.Fprintf(e.out, "%s  free\n", printable.String(e.args[0]))
		return err
	}
	for i, r := range recipes {
		if e.isJSON() {
			err = e.writeJSON(v.WithParticipants(r))
		} else {
			if i > 0 {
				fmt.Fprintln(e.out)
			}
			err = e.showTable(v, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// showTable prints the queue of a recipe.
func (e *env) showTable(v view.View, r inspect.Recipe) error {
	if _, err := fmt.Fprintln(e.out, e.paint(columns.Header, v.Title(r))); err != nil {
		return err
	}
	rows := v.ParticipantRows(r)
	if len(rows) == 0 {
		return nil
	}
	table := e.table()
	table.Header(v.ParticipantHeader()...)
	for _, row := range rows {
		table.Row(row...)
	}
	return table.Flush() // returns the error of an earlier write, too
}

// recipesAt returns the recipes at one path, or none if the node does not exist.
func recipesAt(ctx context.Context, c *framework.Client, path string) (all []inspect.Recipe, err error) {
	for r, err := range inspect.Walk(ctx, c, path, inspect.WithDepth(0)) {
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if r.Path == path {
			all = append(all, r)
		}
	}
	return all, nil
}
