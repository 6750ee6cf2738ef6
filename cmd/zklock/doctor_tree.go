package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	x := &examination{doctor: d, ctx: ctx, client: c, newest: c.LastZxid(), host: hostname.Get()}
	if err := x.walk(); err != nil {
		return err
	}
	return d.fact("tree", fmt.Sprintf("%d nodes beside those of %d locks, leaders, groups and queues", x.nodes, x.recipes),
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
	newest  int64 // what is older was there when the walk began
	host    string
	nodes   int // nodes beside those of recipes
	recipes int

	queues  []string        // the folders of the contenders of the present path
	known   map[string]bool // the contenders
	problem error           // the first error of the filter's requests
}

func (x *examination) walk() error {
	visit := inspect.WithFilter(func(path string) bool {
		x.nodes++
		if x.problem == nil {
			x.problem = x.emptyParent(path)
		}
		return true
	})
	last := ""
	for r, err := range inspect.Walk(x.ctx, x.client, "/", visit) {
		if err = errors.Join(err, x.problem); err != nil {
			return err
		}
		if r.Path != last {
			if err := x.strangers(); err != nil {
				return err
			}
			last = r.Path
		}
		x.recipe(r)
	}
	return errors.Join(x.problem, x.strangers())
}

// recipe looks at the participants of a recipe.
func (x *examination) recipe(r inspect.Recipe) {
	x.recipes++
	switch r.Kind {
	case inspect.Unreadable:
		x.find(finding{Hint: true, What: "unreadable", Path: r.Path, Text: r.Reason})
		return
	case inspect.Registrations, inspect.Queue:
	case inspect.Semaphore:
		x.queue(znode.Join(r.Path, "leases"))
		if r.Layout == "curator" {
			x.queue(znode.Join(r.Path, "locks"))
		}
	default:
		x.queue(r.Path)
	}
	for _, p := range append(r.Holders, r.Waiters...) {
		if x.known == nil {
			x.known = map[string]bool{}
		}
		x.known[p.Path] = true
		x.participant(r, p)
	}
}

// queue notes a folder of contenders. Recipes of one path may share it.
func (x *examination) queue(folder string) {
	if !slices.Contains(x.queues, folder) {
		x.queues = append(x.queues, folder)
	}
}

func (x *examination) participant(r inspect.Recipe, p inspect.Participant) {
	switch {
	case p.Unreadable:
	case p.Session == 0 && r.Kind != inspect.Queue:
		x.find(finding{What: "not ephemeral", Path: p.Path, Text: "of " + p.ID + ": it stays when its owner dies"})
	case p.PID != 0 && p.Host == x.host && !child.Exists(p.PID):
		x.find(finding{What: "owner is gone", Path: p.Path, Text: fmt.Sprintf(
			"no process %d on this machine, unless it is in a container: the node stays until session %s ends", p.PID,
			view.Session(p.Session))})
	}
}

// strangers looks for nodes in the queues of the last path that are nobody's
// turn: they were there before the walk, are no contenders, and have nothing
// below them.
func (x *examination) strangers() error {
	queues, known := x.queues, x.known
	x.queues, x.known = nil, nil
	for _, queue := range queues {
		names, _, err := x.client.Children(x.ctx, queue)
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
			continue
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			path := znode.Join(queue, name)
			if known[path] {
				continue
			}
			stat, err := x.statOf(path)
			if err != nil {
				return err
			}
			if stat != nil && stat.NumChildren == 0 && stat.Czxid <= x.newest {
				x.find(finding{Hint: true, What: "stranger in a queue", Path: path, Text: "no contender, and nobody waits for it"})
			}
		}
	}
	return nil
}

// emptyParent notes a node that had children and has none. Containers go by
// themselves, but the stat of a node does not tell that it is one.
func (x *examination) emptyParent(path string) error {
	if path == "/" || path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
		return nil
	}
	stat, err := x.statOf(path)
	if err != nil || stat == nil {
		return err
	}
	if stat.EphemeralOwner == 0 && stat.NumChildren == 0 && stat.Cversion > 0 && stat.DataLength == 0 {
		x.find(finding{Hint: true, What: "empty parent", Path: path, Text: "it had children; if it is a container, it goes within minutes"})
	}
	return nil
}

// statOf returns nil for a node that is gone, or that may not be looked at.
func (x *examination) statOf(path string) (*zk.Stat, error) {
	_, stat, err := x.client.Exists(x.ctx, path)
	if errors.Is(err, zk.ErrNoAuth) {
		return nil, nil
	}
	return stat, err
}
