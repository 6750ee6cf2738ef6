package main

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// lock is one client's side of a lock.
type lock interface {
	acquire(ctx context.Context) error
	release(ctx context.Context) error
}

// design is a way to build a lock.
type design struct {
	name string
	open func(c *framework.Client, path string) lock
}

var designs = []design{
	{"one node that all watch", func(c *framework.Client, path string) lock { return &oneNode{c, path} }},
	{"queue that all watch", func(c *framework.Client, path string) lock { return &watchedQueue{client: c, path: path} }},
	{"InterProcessMutex", func(c *framework.Client, path string) lock {
		return &predecessor{mutex: recipes.NewInterProcessMutex(c, path)}
	}},
}

// oneNode is a lock that belongs to whoever has created a certain node. All others wait for its deletion, and then all
// try to create it. Who is first is a matter of luck.
//
// Like watchedQueue it is here to be measured, and forgets lost replies and lost sessions.
type oneNode struct {
	client *framework.Client
	path   string
}

func (l *oneNode) acquire(ctx context.Context) error {
	for {
		_, err := l.client.Create(ctx, l.node(), nil, framework.WithMode(framework.Ephemeral), framework.WithParents())
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		if err := l.waitUntilGone(ctx); err != nil {
			return err
		}
	}
}

func (l *oneNode) waitUntilGone(ctx context.Context) error {
	exists, _, watch, err := l.client.ExistsW(ctx, l.node())
	if err != nil {
		return err
	}
	defer watch.Stop()
	if !exists {
		return nil
	}
	_, err = watch.Wait(ctx)
	return err
}

func (l *oneNode) release(ctx context.Context) error {
	return l.client.Delete(ctx, l.node(), framework.AnyVersion)
}

func (l *oneNode) node() string { return path.Join(l.path, "lock") }

// watchedQueue is a lock that belongs to the first in a queue of sequential nodes. That is fair, but all watch the whole
// queue: everybody who comes or goes wakes everybody, and each then asks for all the names.
type watchedQueue struct {
	client *framework.Client
	path   string
	node   string
}

func (l *watchedQueue) acquire(ctx context.Context) error {
	created, err := l.client.Create(ctx, path.Join(l.path, "lock-"), nil,
		framework.WithMode(framework.EphemeralSequential), framework.WithParents())
	if err != nil {
		return err
	}
	l.node = created.Path
	for {
		queue, _, watch, err := l.client.ChildrenW(ctx, l.path)
		if err != nil {
			return err
		}
		if slices.Min(queue) == path.Base(l.node) {
			return nil // the watch is left to fire at the next change, which costs less than to take it back
		}
		if _, err := watch.Wait(ctx); err != nil {
			return err
		}
	}
}

func (l *watchedQueue) release(ctx context.Context) error {
	return l.client.Delete(ctx, l.node, framework.AnyVersion)
}

// predecessor is the library's lock: a queue in which each watches only the one before it.
type predecessor struct {
	mutex *recipes.InterProcessMutex
	lease *recipes.Lease
}

func (l *predecessor) acquire(ctx context.Context) (err error) {
	l.lease, err = l.mutex.Acquire(ctx)
	return err
}

func (l *predecessor) release(ctx context.Context) error { return l.lease.Release(ctx) }
