package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

var electCommand = &command{
	Name:     "elect",
	Purpose:  "run a command while leading, or follow the leader",
	Usage:    "[flags] PATH [--] CMD [ARG...]",
	MinArgs:  1,
	MaxArgs:  -1,
	FlagsEnd: 2,
	Long: `
Of all candidates at PATH, only the leader runs its command. The command is
stopped when the leadership is lost or revoked, and the next candidate leads
when the command has ended. The election is compatible with Curator's
LeaderSelector.

  zklock elect --restart /services/scheduler -- ./scheduler
  zklock elect --observe -o json /services/scheduler

With --restart, the program queues again, behind other candidates, when its
command has ended or the leadership is lost. A signal, such as Ctrl-C, always
ends the program: the command gets the terminal only when it reads from it. The
environment of the command is the same as with zklock run.
`,
	Define: defineElect,
}

// electFlags are the flags of elect.
type electFlags struct {
	id               string
	observe, restart bool
	stop             *stopping
}

func defineElect(fs *flag.FlagSet) action {
	f := &electFlags{stop: defineStopping(fs)}
	fs.StringVar(&f.id, "id", "", "the `name` that other processes see")
	fs.BoolVar(&f.observe, "observe", false, "do not become a candidate: print each leader, until a signal")
	fs.BoolVar(&f.restart, "restart", false, "queue again when the command has ended")
	return f.run
}

func (f *electFlags) run(ctx context.Context, e *env) error {
	switch {
	case f.observe && (len(e.args) > 1 || f.restart || f.id != ""):
		return usagef("elect: --observe takes a path and nothing else")
	case !f.observe && len(e.args) < 2:
		return usagef("elect: give a command, or --observe")
	}
	if f.observe {
		ctx, stop := e.untilSignal(ctx)
		defer stop()
		e.out = stoppable{ctx, e.out}
		return orSignal(ctx, observe(ctx, e))
	}
	if err := f.stop.plan(e.settings); err != nil {
		return err
	}
	signals := make(chan os.Signal, 32)
	e.notify(signals, child.Forwarded...)
	defer e.forget(signals)
	defer e.prepare()()
	return f.stand(ctx, e, signals)
}

// pause is the time between two candidacies of one program.
const pause = time.Second

// stand queues as a candidate, once or repeatedly.
func (f *electFlags) stand(ctx context.Context, e *env, signals chan os.Signal) error {
	waitCtx, endWait := untilStart(ctx, signals)
	c, err := e.connect(waitCtx, f.stop.option(), serviceName(e.args[1:]))
	if err == nil {
		defer c.Close()
		err = checkPath(waitCtx, c, e.args[0], inspect.Mutex)
	}
	stopErr := endWait()
	if err != nil {
		return orSignal(waitCtx, err)
	}
	if stopErr != nil {
		return stopErr
	}
	for {
		g := &guarded{env: e, client: c, path: e.args[0], kind: inspect.Mutex, id: f.id, args: e.args[1:], stop: f.stop}
		g.background = f.restart
		stopped, err := f.lead(ctx, g, signals)
		if !f.restart || stopped || !mayRestart(err) || isInterrupt(e, err) {
			return err
		}
		fmt.Fprintln(e.err, "zklock: queueing again:", outcomeText(err)+connectionText(c))
		waitCtx, endWait := untilStart(ctx, signals)
		select {
		case <-time.After(pause):
		case <-waitCtx.Done():
		}
		if err := e.logInAgain(waitCtx, c); err != nil && waitCtx.Err() == nil {
			fmt.Fprintln(e.err, "zklock:", err)
		}
		if err := endWait(); err != nil {
			return err
		}
	}
}

// untilWorkReturns is the grace of a leader that is asked to step down: the command
// gets TERM, and the leadership ends after the command.
const untilWorkReturns = 10 * 365 * 24 * time.Hour

// lead is one candidacy. It returns stopped = true if a signal has asked the program to
// stop, or after an error that the next candidacy would hit again.
func (f *electFlags) lead(ctx context.Context, g *guarded, signals chan os.Signal) (stopped bool, err error) {
	opts := []leader.Option{leader.WithGrace(untilWorkReturns)}
	if f.id != "" {
		opts = append(opts, leader.WithID(f.id))
	}
	waitCtx, endWait := untilStart(ctx, signals)
	var outcome error
	led := false
	hideProgress := showWaiting(waitCtx, g.env, g.client, g.path)
	err = leader.NewSelector(g.client, g.path, opts...).Run(waitCtx, func(ctx context.Context) error {
		hideProgress()
		led = true
		if stopErr := endWait(); stopErr != nil {
			stopped, outcome = true, stopErr // the command was never started
			return nil
		}
		lease, _ := locks.LeaseFromContext(ctx)
		g.signals = signals
		outcome = g.run(lease)
		stopped = g.stopAsked
		return nil
	})
	hideProgress()
	if led {
		return stopped, outcome
	}
	stopErr := endWait()
	if cause := lossIn(err); cause != nil && stopErr == nil {
		return false, lostError(g.path, cause, "; the command was not started")
	}
	return true, orSignal(waitCtx, err)
}

// lossIn returns why a leadership was lost, or nil if the error has another cause.
func lossIn(err error) error {
	losses := []error{framework.ErrSessionLost, framework.ErrSuspended, locks.ErrNodeDeleted, locks.ErrRevoked}
	for _, loss := range losses {
		if !errors.Is(err, loss) {
			continue
		}
		var op *framework.OpError
		if errors.As(err, &op) {
			return op.Err
		}
		return err
	}
	return nil
}

// mayRestart reports whether a candidacy may be repeated after this error: yes after
// the end of the command or the loss of the leadership, no after an error of zklock
// itself.
func mayRestart(err error) bool {
	var e statusError
	return err == nil || errors.As(err, &e) && (e.status == lost || e.err == nil)
}

// isInterrupt reports whether Ctrl-C or Ctrl-\\ has ended a command that had the
// terminal. In that case, only the command gets the signal.
func isInterrupt(e *env, err error) bool {
	var ended statusError
	return errors.As(err, &ended) && ended.err == nil && terminal.Is(e.in) &&
		(ended.status == bySignal+int(syscall.SIGINT) || ended.status == bySignal+int(syscall.SIGQUIT))
}

// outcomeText describes the end of a candidacy.
func outcomeText(err error) string {
	switch {
	case err == nil:
		return "the command has ended"
	case err.Error() == "":
		return fmt.Sprintf("the command has ended with status %d", statusOf(err))
	}
	return err.Error()
}

// connectionText returns the reason why there is no connection, or an empty text if
// there is one.
func connectionText(c *framework.Client) string {
	s := framework.Extend(c).Status()
	if s.State.IsConnected() || s.Cause == nil {
		return ""
	}
	return fmt.Sprintf("; there is no connection: %v", s.Cause)
}

// observed is a leader, for the output as JSON.
type observed struct {
	Time    time.Time `json:"time"`
	Path    string    `json:"path"`
	Leader  string    `json:"holder,omitempty"`
	Node    string    `json:"node,omitempty"`
	Token   int64     `json:"fencing_token,omitempty"`
	Session string    `json:"session_id,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// observe prints each leader on a separate line.
func observe(ctx context.Context, e *env) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	path := e.args[0]
	for p, err := range leader.Observe(ctx, c, path) {
		if err == nil {
			err = printLeader(e, path, p)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func printLeader(e *env, path string, p locks.Participant) error {
	now := time.Now().Truncate(time.Millisecond)
	o := observed{Time: now, Path: path}
	if p.Path != "" {
		o.Leader, o.Node, o.Token = p.ID(), p.Path, p.Token
		o.Session, o.Since = view.Session(p.Session), p.Since
	}
	if e.format == jsonForm {
		return e.writeJSON(o)
	}
	text := "nobody leads"
	if p.Path != "" {
		text = fmt.Sprintf("%s leads with token %d", o.Leader, o.Token)
	}
	_, err := fmt.Fprintln(e.out, now.Format(time.RFC3339), text)
	return err
}
