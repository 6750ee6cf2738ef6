package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

var waitCommand = &command{
	Name:    "wait",
	Purpose: "wait until a lock has no holders and no waiters",
	Usage:   "[flags] PATH",
	MinArgs: 1,
	MaxArgs: 1,
	Long: `
The command does not take the lock, which may be held again when the command
returns. It works with locks of every kind and with leader elections, including
Java Curator's and Python kazoo's. A lock that does not exist is free. A lock
whose holders change faster than they can be read is not free.

  zklock wait -w 60 /jobs/backup && shutdown now
`,
	Define: defineWait,
}

func defineWait(fs *flag.FlagSet) action {
	w := defineWaiting(fs)
	return func(ctx context.Context, e *env) error {
		if err := w.check("wait"); err != nil {
			return err
		}
		bounded, cancel := w.bound(ctx, e)
		defer cancel()
		return w.failure(bounded, e, e.waitFree(bounded, ctx, w.triesOnce()))
	}
}

// waitFree connects, and waits until the path has neither holders nor waiters. The
// context signaled ends only with a signal, and not when the time for the wait is over.
func (e *env) waitFree(ctx, signaled context.Context, noWait bool) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return waitFree(ctx, signaled, c, e.args[0], noWait)
}

// These are the errors of a lock that is not free, or perhaps not free.
var (
	errHeld      = errors.New("is held")
	errUndecided = errors.New("may be held")
)

// waitFree waits until a path has neither holders nor waiters. New contenders queue
// last, so the lock is held at least until the present last contender has left:
// waitFree watches only that one. The wait continues after an outage.
func waitFree(ctx, signaled context.Context, c *framework.Client, path string, noWait bool) error {
	between := pauses.Contention()
	for {
		var found *contenders
		err := throughOutages(ctx, c, func() (err error) {
			found, err = contendersAt(ctx, c, path)
			return err
		})
		switch {
		case err != nil:
			return err
		case found.areNone():
			return nil
		case noWait:
			return found.error(path)
		}
		if err := throughOutages(ctx, c, func() error { return found.waitForNews(ctx, c, &between) }); err != nil {
			now := found.now(signaled, c, path)
			if now.areNone() { // the lock has become free at the last moment
				return nil
			}
			return fmt.Errorf("%w: %w", now.error(path), err)
		}
	}
}

// now returns the present contenders when the time for a wait is over, because the
// first holder may have left long ago. If no server answers in time, now returns the
// contenders that it was called with. After a signal, now returns these at once: the
// program then ends without naming them, but not as if the lock were free.
func (c *contenders) now(signaled context.Context, client *framework.Client, path string) *contenders {
	if !client.State().IsConnected() {
		return c
	}
	ctx, cancel := context.WithTimeout(signaled, lastLook)
	defer cancel()
	now, err := contendersAt(ctx, client, path)
	if err != nil || signaled.Err() != nil {
		return c
	}
	return now
}

// lastLook is how long the read at the end of a wait may take.
const lastLook = time.Second

// contenders are the holders and waiters of a path, as far as wait needs them.
type contenders struct {
	holder    *inspect.Participant // one of the holders, or nil
	last      *inspect.Participant // the last contender, or nil if none was read
	undecided bool                 // it is not known whether there are others
}

// areNone reports whether the path is free.
func (c *contenders) areNone() bool { return c.last == nil && !c.undecided }

// error returns an error that names the holder, or says that the holder is not known.
func (c *contenders) error(path string) error {
	if c.last == nil {
		return fmt.Errorf("%s %w: all listed contenders had left before they could be read", path, errUndecided)
	}
	return fmt.Errorf("%s %w by %s", path, errHeld, c)
}

// String names the holder, like the error of run without a grant. A semaphore may have
// waiters only.
func (c *contenders) String() string {
	if c.holder == nil {
		return "nobody, and " + printable.String(c.last.String()) + " waits for it"
	}
	return printable.String(c.holder.String())
}

// waitForNews waits until another read may find the path free.
func (c *contenders) waitForNews(ctx context.Context, client *framework.Client, between *pauses.Growing) error {
	if c.last == nil {
		return between.Wait(ctx)
	}
	return waitDeleted(ctx, client, c.last.Path)
}

func contendersAt(ctx context.Context, c *framework.Client, path string) (*contenders, error) {
	found := &contenders{}
	for r, err := range inspect.Walk(ctx, c, path, inspect.WithDepth(0)) {
		if errors.Is(err, zk.ErrNoNode) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if r.Kind == inspect.Unreadable {
			return nil, fmt.Errorf("%s: %w", path, zk.ErrNoAuth)
		}
		found.undecided = found.undecided || len(r.Holders)+len(r.Waiters) == 0 && r.Unread > 0
		if found.holder == nil && len(r.Holders) > 0 {
			found.holder = &r.Holders[0]
		}
		for _, p := range append(r.Holders, r.Waiters...) {
			if found.last == nil || p.Czxid > found.last.Czxid {
				found.last = &p
			}
		}
	}
	return found, nil
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
