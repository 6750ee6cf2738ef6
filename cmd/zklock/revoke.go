package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

var revokeCommand = &command{
	Name:    "revoke",
	Purpose: "ask the holders of a lock to give it up",
	Usage:   "[flags] PATH|NODE",
	MinArgs: 1,
	MaxArgs: 1,
	Long: `
With the path of a lock, all of its holders are asked, and with that of a node,
its owner. Nothing is forced: a holder hears of it if it has WithRevocation, or
makeRevocable in Java, and a leader steps down. The command does not wait; see
zklock wait. It overwrites what the node said of its owner. The exit status is 1
if there was nobody to ask, or a node was gone before. Kazoo's locks know no
revocation. Do not revoke a leader latch if Java's candidates stand behind it:
the next one there would not hear of its turn.

  zklock revoke /jobs/bill && zklock wait -w 60 /jobs/bill
`,
	Define: func(*flag.FlagSet) action {
		return func(ctx context.Context, e *env) error {
			c, err := e.connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			return revoke(ctx, e, c)
		}
	},
}

// revoke asks the holders at a path, or the owner of a node.
func revoke(ctx context.Context, e *env, c *framework.Client) error {
	found, err := addressees(ctx, c, e.args[0])
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return statusError{refused, fmt.Errorf("%s: neither a lock that is held, nor a node of one",
			printable.String(e.args[0]))}
	}
	var gone []string
	for _, s := range found {
		asked, err := ask(ctx, c, s.Path)
		if err == nil && asked {
			err = e.tellAsked(s)
		}
		if err != nil {
			return err
		}
		if !asked {
			gone = append(gone, printable.String(s.Path))
		}
	}
	if len(gone) > 0 {
		return statusError{refused, fmt.Errorf("not asked: %s is gone", strings.Join(gone, ", "))}
	}
	return nil
}

// ask asks the owner of a node for its lock, and reports false if the node was
// gone by then. Revoke does not tell: a watch does, whose one event is either
// the request or the end of the node.
func ask(ctx context.Context, c *framework.Client, node string) (asked bool, err error) {
	exists, _, w, err := c.ExistsW(ctx, node)
	if err != nil {
		return false, err
	}
	defer w.Stop()
	if !exists {
		return false, nil
	}
	if err := locks.Revoke(ctx, c, node); err != nil {
		return false, err
	}
	event, err := w.Wait(ctx)
	if err == nil && event.Type == zk.EventNotWatching { // nobody knows what has happened
		exists, _, err = c.Exists(ctx, node)
		return exists, err
	}
	return event.Type != zk.EventNodeDeleted, err
}

// addressees returns the holders of the locks at a path, or the participant
// whose node it is.
func addressees(ctx context.Context, c *framework.Client, path string) (found []view.Sighting, err error) {
	recipes, err := recipesAt(ctx, c, path)
	if err != nil {
		return nil, err
	}
	for _, r := range recipes {
		if r.Kind == inspect.Unreadable {
			return nil, fmt.Errorf("%s: %w", printable.String(path), zk.ErrNoAuth)
		}
		for _, p := range r.Holders {
			if p.Path != path && r.Kind != inspect.Registrations {
				found = append(found, view.Sighting{Participant: p, Recipe: r, Holds: true})
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	s, err := participantAt(ctx, c, path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil || s == nil || s.Recipe.Kind == inspect.Registrations {
		return nil, err
	}
	return []view.Sighting{*s}, nil
}

func (e *env) tellAsked(s view.Sighting) error {
	if e.isJSON() {
		return e.writeJSON(e.view().Happened(view.Revoked, s))
	}
	_, err := fmt.Fprintf(e.out, "asked %s to give up %s (node %s)\n", printable.String(s.String()),
		printable.String(s.Recipe.Path), printable.String(s.Path))
	return err
}
