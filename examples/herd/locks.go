package main

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
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
	{"one node that all watch", func(c *framework.Client, path string) lock {
		return &singleNode{client: c, path: path}
	}},
	{"queue that all watch", func(c *framework.Client, path string) lock {
		return &watchedQueue{client: c, path: path}
	}},
	{"InterProcessMutex", func(c *framework.Client, path string) lock {
		return &libraryMutex{mutex: locks.NewInterProcessMutex(c, path)}
	}},
}

// singleNode is a lock that belongs to the client that has created a certain
// node. All other clients wait for its deletion, and then all try to create it.
// Chance decides which one succeeds.
//
// This type and watchedQueue only serve the comparison. They do not handle lost
// replies and lost sessions.
type singleNode struct {
	client *framework.Client
	path   string
}

func (l *singleNode) acquire(ctx context.Context) error {
	for {
		_, err := l.client.Create(ctx, l.node(), nil,
			framework.WithMode(framework.Ephemeral), framework.WithParents())
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		if err := l.waitUntilGone(ctx); err != nil {
			return err
		}
	}
}

func (l *singleNode) waitUntilGone(ctx context.Context) error {
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

func (l *singleNode) release(ctx context.Context) error {
	return l.client.Delete(ctx, l.node(), framework.AnyVersion)
}

func (l *singleNode) node() string { return path.Join(l.path, "lock") }

// watchedQueue is a lock that belongs to the first client in a queue of
// sequential nodes. The lock is fair, but all clients watch the whole queue.
// Each arrival and each departure wakes all clients, and each of them lists all
// names.
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
			// The watch stays until the next change. Removing it would cost
			// more.
			return nil
		}
		if _, err := watch.Wait(ctx); err != nil {
			return err
		}
	}
}

func (l *watchedQueue) release(ctx context.Context) error {
	return l.client.Delete(ctx, l.node, framework.AnyVersion)
}

// libraryMutex is the library's lock: a queue in which each client watches only
// the one before it.
type libraryMutex struct {
	mutex *locks.InterProcessMutex
	lease *locks.Lease
}

func (l *libraryMutex) acquire(ctx context.Context) (err error) {
	l.lease, err = l.mutex.Acquire(ctx)
	return err
}

func (l *libraryMutex) release(ctx context.Context) error { return l.lease.Release(ctx) }
