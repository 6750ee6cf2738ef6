package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

var runCommand = &command{
	Name:     "run",
	Purpose:  "run a command while holding a lock",
	Usage:    "[flags] PATH [--] CMD [ARG...]",
	MinArgs:  1,
	MaxArgs:  -1,
	FlagsEnd: 2,
	Long: `
The command starts when the lock is held, and the lock is released when the
command and its process group have ended. If the lock is lost, the group gets
TERM, and KILL after the grace, before the server can give the lock away.
Without -s, -x and -c, the lock is a mutex.
{token} in an argument becomes the fencing token.

  zklock run /jobs/bill -- psql -v token={token} -f bill.sql
  zklock run -n --at-least 30s /cron/report /usr/local/bin/report
  zklock run -c 3 /limits/export -- ./export.sh
  zklock run --hold /maintenance

Environment of the command: ZKLOCK_PATH, ZKLOCK_NODE, ZKLOCK_TOKEN,
ZKLOCK_SESSION, ZKLOCK_ID, and ZKLOCK_FD, a file that reaches EOF at the loss.
`,
	Define: defineRun,
}

// runFlags are the flags of run.
type runFlags struct {
	kind    lockKind
	wait    *waiting
	stop    *stopping
	atLeast *time.Duration
	hold    bool
}

func defineRun(fs *flag.FlagSet) action {
	f := &runFlags{wait: defineWaiting(fs), stop: defineStopping(fs)}
	f.kind.define(fs)
	f.atLeast = cli.Seconds(fs, "at-least", 0, "keep the lock at least for this `time`")
	fs.BoolVar(&f.hold, "hold", false, "run nothing: hold until a signal, or EOF on a pipe, or the end of the parent")
	return f.run
}

// run waits for the lock, runs the command, and releases the lock.
func (f *runFlags) run(ctx context.Context, e *env) error {
	path, args := e.args[0], e.args[1:]
	if f.hold != (len(args) == 0) {
		return usagef("run: give either a command or --hold")
	}
	if err := f.wait.check("run"); err != nil {
		return err
	}
	if err := f.stop.plan(e.settings); err != nil {
		return err
	}
	signals := make(chan os.Signal, 32)
	e.notify(signals, child.Forwarded...)
	defer e.forget(signals)
	defer e.prepare()()

	waitCtx, endWait := untilStart(ctx, signals)
	c, lease, err := f.grab(waitCtx, e)
	if c != nil {
		defer c.Close()
	}
	stopErr := endWait()
	if err != nil {
		return orSignal(waitCtx, err)
	}
	begin := time.Now()
	g := &guarded{env: e, client: c, path: path, kind: f.kind.kind(), args: args, stop: f.stop, signals: signals}
	defer g.release(ctx, lease)
	if stopErr != nil {
		return stopErr // the command was never started
	}
	if f.hold {
		err = g.hold(lease)
	} else {
		err = g.run(lease)
	}
	if f.hold || g.started {
		g.linger(lease, time.Until(begin.Add(*f.atLeast)))
	}
	return err
}

// grab connects and acquires. The caller must close the client unless it is nil.
func (f *runFlags) grab(ctx context.Context, e *env) (*framework.Client, *locks.Lease, error) {
	if err := f.kind.check(); err != nil {
		return nil, nil, err
	}
	bounded, cancel := f.wait.bound(ctx, e)
	defer cancel()
	c, err := e.connect(bounded, f.stop.option(), serviceName(e.args[1:]))
	if err != nil {
		return nil, nil, f.wait.failure(bounded, e, err)
	}
	lease, err := f.acquire(bounded, e, c)
	return c, lease, f.wait.failure(bounded, e, err)
}

// acquire acquires the lock, unless another kind of lock uses the path.
func (f *runFlags) acquire(ctx context.Context, e *env, c *framework.Client) (*locks.Lease, error) {
	path := e.args[0]
	if err := checkPath(ctx, c, path, f.kind.kind()); err != nil {
		return nil, err
	}
	l := f.kind.locker(c, path)
	if f.wait.triesOnce() {
		return l.TryAcquire(ctx)
	}
	defer showWaiting(ctx, e, c, path)()
	return l.Acquire(ctx)
}

// serviceName puts the name of the command into the lock's node.
func serviceName(args []string) framework.Option {
	if len(args) == 0 {
		return framework.WithServiceName("zklock")
	}
	return framework.WithServiceName(filepath.Base(args[0]))
}

// release gives up a lock, which needs no connection. release does not wait if the
// servers had stopped answering before.
func (g *guarded) release(ctx context.Context, lease *locks.Lease) {
	if lostCause(lease) != nil {
		return
	}
	patience := answerPatience
	if !g.unanswered.IsZero() && !g.session().LastContact.After(g.unanswered) {
		patience = 0
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := lease.Release(ctx); err != nil {
		fmt.Fprintln(g.err, "zklock: release:", err)
	}
}
