package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

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
		c, err := e.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		bounded, cancel := w.bound(ctx)
		defer cancel()
		return w.failure(waitFree(bounded, c, e.args[0], w.noWait))
	}
}

// errHeld is the error of a lock that is not free.
var errHeld = errors.New("is held")

// waitFree waits until a path has neither holders nor waiters. Contenders come
// in behind all others, so the lock is held at least until the last one of them
// has gone: that one alone is watched. The wait goes on after an outage.
func waitFree(ctx context.Context, c *framework.Client, path string, noWait bool) error {
	for {
		last, err := lastContender(ctx, c, path)
		switch {
		case err == nil && last == nil:
			return nil
		case err == nil && noWait:
			return fmt.Errorf("%s %w by %s", path, errHeld, last)
		case err == nil:
			if err = waitDeleted(ctx, c, last.Path); err != nil {
				err = fmt.Errorf("%s %w by %s: %w", path, errHeld, last, err)
			}
		}
		if framework.IsConnectionError(err) && ctx.Err() == nil {
			err = c.WaitConnected(ctx)
		}
		if err != nil {
			return err
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

// waiting has the flags that bound a wait, which are those of flock(1).
type waiting struct {
	noWait   bool
	limit    *time.Duration
	conflict int
}

// defineWaiting adds -n, -w and -E.
func defineWaiting(fs *flag.FlagSet) *waiting {
	w := &waiting{conflict: notAcquired}
	fs.BoolVar(&w.noWait, "n", false, "do not wait")
	alias(fs, "n", "nonblock")
	w.limit = seconds(fs, "w", -1, "wait no longer than this `time`; 5 is 5 seconds")
	alias(fs, "w", "wait")
	fs.Var(&number{&w.conflict, 0, 255}, "E", "exit with `n` if not acquired in time")
	alias(fs, "E", "conflict-exit-code")
	return w
}

// bound returns the context of the wait.
func (w *waiting) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if *w.limit < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, *w.limit)
}

// failure gives an error of the wait its exit status.
func (w *waiting) failure(err error) error {
	if statusOf(err) == notAcquired {
		return statusError{w.conflict, err}
	}
	return err
}
