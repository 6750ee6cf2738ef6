package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/inspect"
)

// registry is a look at all nodes below a path, without a watch.
type registry struct {
	client *framework.Client
	base   string
	codec  discovery.Codec
}

// readsAtOnce is how many reads are under way at a time.
const readsAtOnce = 16

// all returns the nodes that are instances, or should be, in the order of their
// paths. An error ends the look. Nodes that go meanwhile are no error.
func (r *registry) all(ctx context.Context) iter.Seq2[view.Registered, error] {
	return func(yield func(view.Registered, error) bool) {
		names, _, err := r.client.Children(ctx, r.base)
		if err == nil {
			_, err = r.below(ctx, r.base, names, func(one view.Registered) bool { return yield(one, nil) })
		}
		if err != nil {
			yield(view.Registered{}, err)
		}
	}
}

// below hands out what is below a node with these children. It returns false if
// nobody wants more.
func (r *registry) below(ctx context.Context, dir string, names []string, yield func(view.Registered) bool) (bool, error) {
	slices.Sort(names)
	// Some are read, and handed out, before the next ones.
	for some := range slices.Chunk(names, 256) {
		for _, n := range r.read(ctx, dir, some) {
			one, ok, err := r.instance(n)
			if err != nil || ok && !yield(one) {
				return false, err
			}
			if len(n.children) == 0 {
				continue
			}
			if more, err := r.below(ctx, n.path, n.children, yield); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// visited is a node that was read.
type visited struct {
	path     string
	data     []byte
	stat     *zk.Stat
	children []string
	err      error
}

// read reads some children of a node, several at a time.
func (r *registry) read(ctx context.Context, dir string, names []string) []visited {
	nodes := make([]visited, len(names))
	var all sync.WaitGroup
	slots := make(chan struct{}, readsAtOnce)
	for i, name := range names {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			nodes[i] = r.visit(ctx, znode.Join(dir, name))
		})
	}
	all.Wait()
	return nodes
}

func (r *registry) visit(ctx context.Context, path string) visited {
	n := visited{path: path}
	n.data, n.stat, n.err = r.client.Get(ctx, path)
	if n.err == nil && n.stat.NumChildren > 0 {
		n.children, _, n.err = r.client.Children(ctx, path)
	}
	return n
}

// instance returns what a node says. It returns false if the node need not be an
// instance: a parent, for example.
func (r *registry) instance(n visited) (one view.Registered, ok bool, err error) {
	parent, name := znode.Split(n.path)
	below := strings.TrimPrefix(parent, strings.TrimSuffix(r.base, "/"))
	service, ok := r.codec.Service(below)
	one = view.Registered{Instance: discovery.Instance{Service: service, ID: name}, Node: n.path}
	switch {
	case errors.Is(n.err, zk.ErrNoNode):
		return one, false, nil
	case errors.Is(n.err, zk.ErrNoAuth):
		one.Problem = "may not be read"
		return one, true, nil
	case n.err != nil || !ok:
		return one, false, n.err
	}
	i, err := r.codec.Decode(service, name, n.data)
	switch {
	case err == nil:
		i.Service, i.ID = service, name
		one.Instance = i
	case errors.Is(err, discovery.ErrNotInstance) || len(n.children) > 0:
		return one, false, nil
	default:
		one.Problem = "malformed: " + err.Error()
	}
	one.Since, one.Session = time.UnixMilli(n.stat.Ctime).UTC(), inspect.SessionID(n.stat.EphemeralOwner)
	return one, true, nil
}
