package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/inspect"
)

// tree looks for leftovers in the whole tree.
func (d *doctor) tree(ctx context.Context, c *framework.Client) error {
	x := &examination{
		doctor: d, ctx: ctx, client: c, newest: c.LastZxid(), host: hostname.Get(), leaves: map[string][]string{},
	}
	if err := x.walk(); err != nil {
		return err
	}
	return d.fact("tree", fmt.Sprintf("%d nodes, apart from %d locks, leaders, groups and queues", x.nodes, x.recipes),
		struct {
			Type    string `json:"type"`
			Nodes   int    `json:"nodes"`
			Recipes int    `json:"recipes"`
		}{"tree", x.nodes, x.recipes})
}

// examination is one walk through the tree.
type examination struct {
	*doctor
	ctx     context.Context
	client  *framework.Client
	newest  int64 // older nodes existed when the walk began
	host    string
	nodes   int // nodes that belong to no recipe
	recipes int

	leaves  map[string][]string // old nodes without children that are not contenders, by their parents
	problem error               // the first error of the filter's requests
}

func (x *examination) walk() error {
	visit := inspect.WithFilter(func(path string) bool {
		x.nodes++
		if x.problem == nil {
			x.problem = x.node(path)
		}
		return true
	})
	for r, err := range inspect.Walk(x.ctx, x.client, "/", visit) {
		if err = errors.Join(err, x.problem); err != nil {
			return err
		}
		x.recipe(r)
	}
	return x.problem
}

// node examines a node that is not a contender, and notes it if it once had children
// and now has none. The servers remove empty containers by themselves, but a stat does
// not show whether a node is a container.
func (x *examination) node(path string) error {
	_, stat, err := x.client.Exists(x.ctx, path)
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		return nil
	case err != nil || stat == nil || stat.EphemeralOwner != 0 || stat.NumChildren > 0:
		return err
	case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
		return nil
	}
	if parent, _ := znode.Split(path); stat.Czxid <= x.newest {
		x.leaves[parent] = append(x.leaves[parent], path)
	}
	if stat.Cversion > 0 && stat.DataLength == 0 {
		x.find(finding{
			Hint: true, What: "empty parent", Path: path, Text: "it had children; servers delete a container within minutes",
		})
	}
	return nil
}

// recipe examines the participants of a recipe and the other nodes in its queues, which
// the walk has visited before.
func (x *examination) recipe(r inspect.Recipe) {
	x.recipes++
	switch r.Kind {
	case inspect.Unreadable:
		x.find(finding{Hint: true, What: "unreadable", Path: r.Path, Text: r.Reason})
		return
	case inspect.Registrations, inspect.Queue:
	case inspect.Semaphore:
		x.strangers(znode.Join(r.Path, "leases"))
		x.strangers(znode.Join(r.Path, "locks"))
	default:
		x.strangers(r.Path)
	}
	for _, p := range append(r.Holders, r.Waiters...) {
		x.participant(r, p)
	}
}

// strangers notes the nodes in a queue that are not contenders. Recipes at one path may
// share a queue.
func (x *examination) strangers(queue string) {
	for _, path := range x.leaves[queue] {
		x.find(finding{Hint: true, What: "stranger in a queue", Path: path, Text: "not a contender; no client waits for it"})
	}
	delete(x.leaves, queue)
}

func (x *examination) participant(r inspect.Recipe, p inspect.Participant) {
	switch {
	case p.Unreadable:
	case p.Session == 0 && r.Kind != inspect.Queue:
		x.find(finding{What: "not ephemeral", Path: p.Path, Text: "of " + p.ID + ": the node stays when its owner dies"})
	case p.PID != 0 && p.Host == x.host && !child.Exists(p.PID):
		x.find(finding{What: "owner is gone", Path: p.Path, Text: fmt.Sprintf(
			"no process %d on this machine, unless it is in a container: the node stays until session %s ends", p.PID,
			view.Session(p.Session))})
	}
}
