package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

var waitCommand = &command{
	name:    "wait",
	purpose: "wait until nobody holds a lock or waits for it",
	usage:   "[flags] PATH",
	minArgs: 1,
	maxArgs: 1,
	long: `
The command takes nothing: the lock may be held again when it returns. It works
with locks of every kind and with leader elections, also with those of Java
Curator and of Python's kazoo. A lock that does not exist is free.

  zklock wait -w 60 /jobs/backup && shutdown now
`,
	define: defineWait,
}

func defineWait(fs *flag.FlagSet) action {
	w := defineWaiting(fs)
	return func(ctx context.Context, e *env) error {
		bounded, cancel := w.bound(ctx, e)
		defer cancel()
		return w.failure(bounded, e, e.waitFree(bounded, w.triesOnce()))
	}
}

// waitFree connects, and waits until the path has neither holders nor waiters.
func (e *env) waitFree(ctx context.Context, noWait bool) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return waitFree(ctx, c, e.args[0], noWait)
}

// errHeld is the error of a lock that is not free.
var errHeld = errors.New("is held")

// waitFree waits until a path has neither holders nor waiters. Contenders come
// in behind all others, so the lock is held at least until the last one of them
// has gone: that one alone is watched. The wait goes on after an outage.
func waitFree(ctx context.Context, c *framework.Client, path string, noWait bool) error {
	for {
		var last *inspect.Participant
		err := throughOutages(ctx, c, func() (err error) {
			last, err = lastContender(ctx, c, path)
			return err
		})
		switch {
		case err != nil:
			return err
		case last == nil:
			return nil
		case noWait:
			return fmt.Errorf("%s %w by %s", path, errHeld, last)
		}
		if err := throughOutages(ctx, c, func() error { return waitDeleted(ctx, c, last.Path) }); err != nil {
			return fmt.Errorf("%s %w by %s: %w", path, errHeld, last, err)
		}
	}
}

// lastContender returns the participant that came last, or nil if there is
// none.
func lastContender(ctx context.Context, c *framework.Client, path string) (*inspect.Participant, error) {
	var last *inspect.Participant
	for r, err := range inspect.Walk(ctx, c, path, inspect.WithDepth(0)) {
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if r.Kind == inspect.Unreadable {
			return nil, fmt.Errorf("%s: %w", path, zk.ErrNoAuth)
		}
		for _, p := range append(r.Holders, r.Waiters...) {
			if last == nil || p.Czxid > last.Czxid {
				last = &p
			}
		}
	}
	return last, nil
}

// waitDeleted waits until a node is gone.
func waitDeleted(ctx context.Context, c *framework.Client, path string) error {
	for {
		exists, _, w, err := c.ExistsW(ctx, path)
		if err != nil {
			return err
		}
		if !exists {
			w.Stop()
			return nil
		}
		if _, err = w.Wait(ctx); err != nil {
			return err
		}
	}
}
