package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locks"
)

// waiting has the flags that bound a wait. flock(1) has the same flags.
type waiting struct {
	noWait   bool
	limit    *time.Duration
	conflict int
}

// defineWaiting adds -n, -w and -E.
func defineWaiting(fs *flag.FlagSet) *waiting {
	w := &waiting{conflict: notAcquired}
	fs.BoolVar(&w.noWait, "n", false, "connect, within --connect-timeout, and try once")
	cli.Alias(fs, "n", "nonblock")
	w.limit = cli.Seconds(fs, "w", -1, "wait no longer than this `time` in all, from the start; 5 is 5 seconds")
	cli.Alias(fs, "w", "wait")
	cli.NumberVar(fs, &w.conflict, "E", 0, 255, "exit with `n` if not acquired in time")
	cli.Alias(fs, "E", "conflict-exit-code")
	return w
}

// check returns the usage error of flags that contradict each other.
func (w *waiting) check(command string) error {
	if w.noWait && *w.limit >= 0 {
		return usagef("%s: only one of -n and -w can be given", command)
	}
	return nil
}

// triesOnce reports whether zklock waits only for a connection.
func (w *waiting) triesOnce() bool { return w.noWait || *w.limit == 0 }

// bound returns the context for everything before the grant, from the first connection
// on. A single try has the time that a connection may take.
func (w *waiting) bound(ctx context.Context, e *env) (context.Context, context.CancelFunc) {
	switch {
	case w.triesOnce():
		return context.WithTimeout(ctx, e.connectTimeout)
	case *w.limit < 0:
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, *w.limit)
}

// failure gives an error under the context of bound its exit status. If the time ran
// out for lack of a server, the error says so.
func (w *waiting) failure(bounded context.Context, e *env, err error) error {
	var told statusError
	if err == nil || errors.As(err, &told) {
		return err
	}
	unconnected := errors.Is(err, framework.ErrNotConnected)
	timeout := errors.Is(bounded.Err(), context.DeadlineExceeded)
	switch path := printable.String(e.args[0]); {
	case timeout && unconnected && w.triesOnce():
		return e.noServerError(err)
	case timeout && unconnected:
		return statusError{w.conflict, fmt.Errorf("%s: no connection to %s after %v: %w", path, e.servers, *w.limit, err)}
	case errors.Is(err, locks.ErrNotAcquired), errors.Is(err, errHeld), errors.Is(err, errUndecided):
		return statusError{w.conflict, err}
	case timeout && w.triesOnce():
		return statusError{noServer, fmt.Errorf("%s: no answer from %s after %v: %w", path, e.servers, e.connectTimeout, err)}
	case timeout:
		return statusError{w.conflict, fmt.Errorf("%s: no answer from %s after %v: %w", path, e.servers, *w.limit, err)}
	}
	return err
}
