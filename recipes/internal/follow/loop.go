// Package follow has the loop of every recipe that follows the tree. The loop reads,
// reports, waits for a change, and reads again, through outages and lost sessions.
// Followers use it as contenders use package seat.
//
//   - [Judge] returns the reaction to an error, for all recipes, with a reason.
//   - A [Recovery] waits until it is time to retry, logs lasting errors, and keeps the
//     last error for other goroutines that wait.
//   - A [Loop] reads again and again, in one session after the other.
//   - [Reads] read many nodes with few requests.
//   - A [Life] is for an object that is started and ends: it has one goroutine, one end,
//     and one reason for the end.
package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// ErrDone is returned by Look to end the loop without an error.
var ErrDone = errors.New("done")

// Loop follows something in the tree.
type Loop struct {
	Recovery

	// Look reads once, reports what it has read, and waits for a change. It removes its
	// watches. All its requests are in one session, and ctx ends with that session. After
	// a success, Look calls Recovered. An error ends the reads of this session.
	Look func(ctx context.Context, s *framework.Session) error
}

// Run calls Look until Look returns ErrDone, ctx ends, or Look returns an error that a
// retry would not cure. When ctx ends, Run returns the result of GaveUp.
func (l *Loop) Run(ctx context.Context) error {
	return l.Until(ctx, func(ctx context.Context) error {
		err := l.Client.InSession(ctx, func(ctx context.Context) error {
			s, err := l.Client.Session(ctx)
			for err == nil {
				err = l.Look(ctx, s)
			}
			return err
		})
		if reason.Is(err, ErrDone) {
			return nil
		}
		return err
	})
}

// Recovery retries after errors for a task that must stay alive. One goroutine calls Wait
// and Recovered. Any goroutine may call Note, WhyWaiting and GaveUp.
//
// The fields are set before the first use. All fields except Client may be zero.
type Recovery struct {
	Client *framework.Client

	// What is the beginning of the log line about a failing server, such as "shared
	// value". If What is empty, nothing is logged. About returns an attribute for that
	// line.
	What  string
	About func() slog.Attr

	// Ends returns true for errors that end the task, and Survives for errors after which
	// the task retries. Both override Judge, and Ends is asked first.
	Ends, Survives func(error) bool

	// Awaited says that a caller waits for each attempt. The pauses after a server's
	// errors are then as short as in an outage.
	Awaited bool

	// Tell, if not nil, is called with each error that Note records, and with nil after a
	// success. Any goroutine may call it, and it must not block.
	Tell func(error)

	outages, failures *pauses.Growing // nil before the first pause
	warned            string          // the kind of error that was logged

	mu   sync.Mutex // protects last
	last error      // nil after a success
}

// Wait waits until it is time to retry after err, which must not be nil. Wait returns err
// if a retry would not cure it, and the error of ctx if ctx ends first.
func (r *Recovery) Wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		// Errors after which the framework has retried were recorded earlier; see
		// OnError.
		if reason.Is(err, framework.ErrNotConnected) || !reason.IsOfContext(ctx, err) {
			r.Note(err) // the error says why the wait has failed, for example why there was no connection
		}
		return reason.OfContext(ctx)
	}
	reaction := r.judge(err)
	if reaction == End {
		return err
	}
	r.Note(err)
	if ended := r.pause(ctx, reaction, err); ended != nil {
		return ended
	}
	return r.waitConnected(ctx)
}

func (r *Recovery) judge(err error) Reaction {
	switch {
	case r.Ends != nil && r.Ends(err):
		return End
	case r.Survives != nil && r.Survives(err):
		return Failure
	}
	return Judge(err)
}

// pause waits for a time that grows until a success. A server may be reachable and still
// not answer.
func (r *Recovery) pause(ctx context.Context, reaction Reaction, err error) error {
	growing, begin := &r.outages, pauses.Outage
	switch {
	case reaction == NextSession, reaction == Outage && reason.Is(err, framework.ErrNotConnected):
		return nil // the wait for a connection is long enough
	case reaction == Failure:
		r.warn(err)
		if !r.Awaited {
			growing, begin = &r.failures, pauses.Failure
		}
	}
	if *growing == nil {
		first := begin()
		*growing = &first
	}
	return Pause(ctx, r.Client, *growing)
}

// waitConnected waits for a connection. Meanwhile, the last error is
// framework.ErrNotConnected. waitConnected returns an error if ctx is pinned to a lost
// session: usually such a context ends with its session, but context.WithoutCancel prevents
// that.
func (r *Recovery) waitConnected(ctx context.Context) error {
	_, err := r.Client.Session(ctx)
	if ctx.Err() == nil && reason.Is(err, framework.ErrNotConnected) {
		r.Note(err)
		err = r.Client.WaitConnected(ctx)
	}
	if err != nil && ctx.Err() == nil {
		if reaction := r.judge(err); reaction == End || reaction == NextSession {
			return err
		}
		r.Note(err) // the servers refuse the credentials
		r.warn(err)
		for s := range r.Client.States(ctx) { // a wait for a connection fails while the servers refuse the credentials
			if s.IsConnected() {
				break
			}
		}
	}
	if ctx.Err() != nil {
		return reason.OfContext(ctx)
	}
	return nil
}

// warn logs an error, once for each kind of error.
func (r *Recovery) warn(err error) {
	kind := kindOf(err)
	if r.What == "" || kind == r.warned {
		return
	}
	r.warned = kind
	again := event.Kind{Warn: r.What + " is retried after an error"}
	event.Of(r.Client, "").Emit(again, err, r.About(), event.Cause(err))
}

// kindOf returns a text that is the same for errors of the same kind. It leaves out the
// path, which may differ in each attempt.
func kindOf(err error) string {
	var op *framework.OpError
	if reason.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// Recovered records a success: the pauses are short again, and the next error is logged.
func (r *Recovery) Recovered() {
	r.outages, r.failures, r.warned = nil, nil, ""
	r.Note(nil)
}

// Note records an error for callers that wait, or with nil that the error is over. It is
// also called for the errors after which the framework repeats a request; see
// [framework.Extension.OnError]. Any goroutine may call it.
func (r *Recovery) Note(err error) {
	r.mu.Lock()
	r.last = err
	r.mu.Unlock()
	if r.Tell != nil {
		r.Tell(err)
	}
}

// LastError returns the last error since the last success, or nil.
func (r *Recovery) LastError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// WhyWaiting returns why callers must wait: the last error, or that there is no connection
// now. An attempt needs the connection timeout to fail for lack of a connection, and
// callers may have less time. The error of an attempt that was ended would only report
// its own context.
func (r *Recovery) WhyWaiting() error {
	last := r.LastError()
	if why := framework.Extend(r.Client).NotConnected(); why != nil && (last == nil || Judge(last) == Outage) {
		return why
	}
	return last
}

// GaveUp returns the error of a caller whose context has ended during a wait. It includes
// the last error, if there is one.
func (r *Recovery) GaveUp(ctx context.Context) error {
	if last := r.WhyWaiting(); last != nil {
		return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), last)
	}
	return reason.OfContext(ctx)
}

// RefusedCredentials reports whether the servers refuse the client's credentials. It is
// the Recovery.Survives of tasks on which no other process depends: they keep their state
// until a server accepts the credentials.
func RefusedCredentials(err error) bool { return reason.Is(err, zk.ErrAuthFailed) }

// Reaction is the reaction to an error.
type Reaction int

// The reactions.
const (
	End         Reaction = iota // a retry would not cure it
	NextSession                 // a new session starts with a connection
	Outage                      // the next connection may cure it, or a moment on this one
	Failure                     // a server answers with a failure
)

// judgment is one row of the table of reactions.
type judgment struct {
	matches  func(error) bool
	reaction Reaction
	why      string
}

// judgments are checked in this order: for an error that wraps several, the first match
// counts. An error without a match is Failure.
var judgments = []judgment{
	{is(framework.ErrClosed), End, "there will be no other connection"},
	{is(framework.ErrSessionLost), NextSession, "what was seen in the session says nothing of the next one"},
	{is(zk.ErrAuthFailed), End,
		"the servers refuse the credentials before they read a request: the users of the follower must know"},
	{is(zk.ErrNoNode), Failure,
		"a parent is missing: the server deletes empty containers, and the next attempt finds or re-creates them"},
	{framework.IsConnectionError, Outage, "it says nothing about the request itself"},
	{isReplyLost, Outage, "the reply is lost with its connection, and the next read tells the outcome"},
	{framework.IsRefusal, End, "the server or the client has judged the request: repeating it fails again"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return reason.Is(err, target) }
}

// isReplyLost reports whether a write may have been applied, and no server has reported a
// failure.
func isReplyLost(err error) bool {
	_, answered := framework.ServerCode(err)
	return !answered && reason.Is(err, framework.ErrOutcomeUnknown)
}

// Judge returns the reaction to an error, unless the follower overrides it. The error
// must be neither nil nor the error of the follower's own context.
func Judge(err error) Reaction {
	for _, j := range judgments {
		if j.matches(err) {
			return j.reaction
		}
	}
	return Failure // a failing server may recover
}

// Pause pauses before the next attempt of a loop that makes requests of a client. It
// returns ctx's error if ctx ends first. If the client is closed meanwhile, Pause returns
// nil, and the next attempt fails with the client's error.
func Pause(ctx context.Context, c *framework.Client, g *pauses.Growing) error {
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(framework.Extend(c).Context(), cancel)()
	if g.Wait(open) == nil || ctx.Err() == nil {
		return nil
	}
	return reason.OfContext(ctx)
}

// Until calls the function do until do succeeds. If do fails with an error that a retry
// would not cure, Until returns that error. If ctx ends first, Until returns the result
// of GaveUp. Until also records the errors of requests that the framework retries by
// itself.
func (r *Recovery) Until(ctx context.Context, do func(ctx context.Context) error) error {
	ctx = framework.Extend(r.Client).OnError(ctx, r.Note)
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if err = r.Wait(ctx, err); reason.IsOfContext(ctx, err) {
			return r.GaveUp(ctx)
		}
		if err != nil {
			return err
		}
	}
}
