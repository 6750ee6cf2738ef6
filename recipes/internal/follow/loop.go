// Package follow is the loop of everything that follows the tree: it looks, says
// what it has seen, waits for a change, and looks again, through outages and
// losses of the session. It is to followers what package seat is to those
// who queue.
//
//   - [Judge] says what follows an error, for all recipes, and why.
//   - A [Recovery] waits until it is time to try again, logs what lasts, and
//     keeps the last error for those who wait for something else.
//   - A [Loop] looks again and again, in one session after the other.
//   - [Reads] read many nodes with few requests.
//   - A [Life] is for what is started and ends: it has one goroutine, one end, and
//     one reason for that.
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

// ErrDone is what Look returns to end the loop without an error.
var ErrDone = errors.New("done")

// Loop follows something in the tree.
type Loop struct {
	Recovery

	// Look looks once, says what it has seen, and waits for a change. It stops
	// its watches. All of it is in one session, with which ctx ends. When all is
	// well, it calls Recovered. An error ends the looks of this session.
	Look func(ctx context.Context, s *framework.Session) error
}

// Run looks until Look returns ErrDone, ctx ends, or an error comes that
// waiting does not cure. When ctx ends, the error is GaveUp's.
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

// Recovery is how something that stays alive gets over errors. One goroutine
// calls Wait and Recovered. All may call Note, Trouble and GaveUp.
//
// The fields are set before its first use. All but Client may be zero.
type Recovery struct {
	Client *framework.Client

	// What begins the log's line about trouble, such as "shared value". If it
	// is empty, there is no line. About says what the line is about.
	What  string
	About func() slog.Attr

	// Ends and Outlasts are for errors of which the follower knows more than
	// Judge does. Ends comes first.
	Ends, Outlasts func(error) bool

	// Awaited says that somebody waits for each attempt. While servers are in
	// trouble, the pauses are as short as in an outage then.
	Awaited bool

	// Tell, if not nil, is told of each error that Note takes down, and with nil
	// that all is well. Any goroutine may call it, and it must not block.
	Tell func(error)

	outages, troubles *pauses.Growing // nil before their first pause
	warned            string          // the kind of trouble that the log has

	mu   sync.Mutex // protects last
	last error      // nil when all is well
}

// Wait waits until it is time to try again after an error, which is not nil. It
// returns the error if waiting does not cure it, and ctx's if ctx ends first.
func (r *Recovery) Wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		// What the framework has tried again after was noted then; see OnError.
		if reason.Is(err, framework.ErrNotConnected) || !reason.IsOfContext(ctx, err) {
			r.Note(err) // it says why nothing has come of the wait, such as why there was no connection
		}
		return reason.OfContext(ctx)
	}
	verdict := r.judge(err)
	if verdict == End {
		return err
	}
	r.Note(err)
	if ended := r.pause(ctx, verdict, err); ended != nil {
		return ended
	}
	return r.waitConnected(ctx)
}

func (r *Recovery) judge(err error) Verdict {
	switch {
	case r.Ends != nil && r.Ends(err):
		return End
	case r.Outlasts != nil && r.Outlasts(err):
		return Trouble
	}
	return Judge(err)
}

// pause waits for some time, which grows as long as nothing is well. A server
// may be reachable and still not answer.
func (r *Recovery) pause(ctx context.Context, verdict Verdict, err error) error {
	growing, begin := &r.outages, pauses.Outage
	switch {
	case verdict == NextSession, verdict == Outage && reason.Is(err, framework.ErrNotConnected):
		return nil // the wait for a connection is pause enough
	case verdict == Trouble:
		r.warn(err)
		if !r.Awaited {
			growing, begin = &r.troubles, pauses.Trouble
		}
	}
	if *growing == nil {
		first := begin()
		*growing = &first
	}
	return Pause(ctx, r.Client, *growing)
}

// waitConnected waits for a connection. If there is none, that is the trouble from
// then on, whatever it was before. It returns an error if ctx is pinned to a session
// that is lost: such a context ends with its session, unless somebody has kept it
// from that.
func (r *Recovery) waitConnected(ctx context.Context) error {
	_, err := r.Client.Session(ctx)
	if ctx.Err() == nil && reason.Is(err, framework.ErrNotConnected) {
		r.Note(err)
		err = r.Client.WaitConnected(ctx)
	}
	if err != nil && ctx.Err() == nil {
		if verdict := r.judge(err); verdict == End || verdict == NextSession {
			return err
		}
		r.Note(err) // the servers refuse the credentials
		r.warn(err)
		for s := range r.Client.States(ctx) { // a wait for a connection fails while they do
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

// warn writes trouble into the log, each kind once.
func (r *Recovery) warn(err error) {
	kind := kindOf(err)
	if r.What == "" || kind == r.warned {
		return
	}
	r.warned = kind
	again := event.Kind{Warn: r.What + " is tried again after an error"}
	event.Of(r.Client, "").Emit(again, err, r.About(), event.Cause(err))
}

// kindOf tells one error from another. It leaves out the path, which may be
// another one in each attempt.
func kindOf(err error) string {
	var op *framework.OpError
	if reason.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// Recovered says that all is well: the pauses are short again, and the log has
// a line of the next trouble.
func (r *Recovery) Recovered() {
	r.outages, r.troubles, r.warned = nil, nil, ""
	r.Note(nil)
}

// Note takes down an error for those who wait, or with nil that it is over. It
// is also for the errors after which the framework repeats a request; see
// [framework.Extension.OnError]. Any goroutine may call it.
func (r *Recovery) Note(err error) {
	r.mu.Lock()
	r.last = err
	r.mu.Unlock()
	if r.Tell != nil {
		r.Tell(err)
	}
}

// LastError returns the last error since all was well, or nil.
func (r *Recovery) LastError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Obstacle returns why those who wait have to: Trouble, or that there is no
// connection now. It takes the connection timeout until an attempt that waits for
// one is trouble, and callers may have less time. The error of an attempt that
// was ended would say so of its own context.
func (r *Recovery) Obstacle() error {
	last := r.LastError()
	if why := framework.Extend(r.Client).NotConnected(); why != nil && (last == nil || Judge(last) == Outage) {
		return why
	}
	return last
}

// GaveUp returns the error of a caller who waits for the follower, and whose
// context has ended. It names what the follower has to get over, if there is
// anything.
func (r *Recovery) GaveUp(ctx context.Context) error {
	if last := r.Obstacle(); last != nil {
		return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), last)
	}
	return reason.OfContext(ctx)
}

// RefusedCredentials reports whether the servers refuse the client's
// credentials. It is Recovery.Outlasts for what nobody else relies on: it keeps
// what it has until a server takes them.
func RefusedCredentials(err error) bool { return reason.Is(err, zk.ErrAuthFailed) }

// Verdict says what follows an error.
type Verdict int

// The verdicts.
const (
	End         Verdict = iota // waiting does not cure it
	NextSession                // the next session begins with a connection
	Outage                     // the next connection may cure it, or a moment on this one
	Trouble                    // a server answers, but not with what was asked for
)

// judgment is one row of the table by which errors are judged.
type judgment struct {
	matches func(error) bool
	verdict Verdict
	why     string
}

// judgments are in the order in which they are looked for: an error that wraps
// several gets the first one's. An error that matches none is Trouble.
var judgments = []judgment{
	{is(framework.ErrClosed), End, "there will be no other connection"},
	{is(framework.ErrSessionLost), NextSession, "what was seen in the session says nothing of the next one"},
	{is(zk.ErrAuthFailed), End,
		"the servers refuse the credentials before they look at a request: whoever relies on the follower must know"},
	{is(zk.ErrNoNode), Trouble, "a parent is missing: the server deletes containers that are empty, and a look finds or makes them again"},
	{framework.IsConnectionError, Outage, "it says nothing about the request itself"},
	{isReplyLost, Outage, "the reply is lost with its connection, and the next look tells"},
	{framework.IsRefusal, End, "the server or the client has judged the request: repeating it is in vain"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return reason.Is(err, target) }
}

// isReplyLost reports whether a write may be done, and no server says that it has
// failed at it.
func isReplyLost(err error) bool {
	_, answered := framework.ServerCode(err)
	return !answered && reason.Is(err, framework.ErrOutcomeUnknown)
}

// Judge says what follows an error, if the follower knows no better. The error
// is not nil, and not of the follower's own context.
func Judge(err error) Verdict {
	for _, j := range judgments {
		if j.matches(err) {
			return j.verdict
		}
	}
	return Trouble // a server that is in trouble may get over it
}

// Pause pauses before the next attempt of a loop that makes requests of a client,
// and returns ctx's error if ctx ends first. If the client is closed meanwhile, the
// pause is over, and the next attempt says so.
func Pause(ctx context.Context, c *framework.Client, g *pauses.Growing) error {
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(framework.Extend(c).Context(), cancel)()
	if g.Wait(open) == nil || ctx.Err() == nil {
		return nil
	}
	return reason.OfContext(ctx)
}

// Until calls a function until it succeeds, or fails with an error that waiting
// does not cure, which it returns. If ctx ends first, the error is GaveUp's. The
// context of the function takes down what its requests outlast.
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
