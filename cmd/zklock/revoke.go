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
With the path of a lock, the command asks all holders; with the path of a node,
it asks the node's owner. Nothing is forced: a holder receives the request if it
uses WithRevocation, or makeRevocable in Java, and a leader steps down. The
command does not wait; see zklock wait. The request overwrites the data that
name the node's owner. The exit status is 1 if there was no holder to ask, or a
node was already gone. Kazoo's locks have no revocation. Do not revoke a leader
latch if Java's candidates queue behind it: the next one would not notice its
turn.

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
		return statusError{refused, fmt.Errorf("%s: neither a held lock nor a node of a lock",
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

// ask asks the owner of a node for its lock, and returns false if the node was already
// gone. Revoke does not report that, so ask uses a watch, whose first event is either
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
	if err == nil && event.Type == zk.EventNotWatching { // the outcome is unknown
		exists, _, err = c.Exists(ctx, node)
		return exists, err
	}
	return event.Type != zk.EventNodeDeleted, err
}

// addressees returns the holders of the locks at a path, or the participant with the
// node at that path.
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
