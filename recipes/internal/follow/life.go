package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// Life is the life of an object that is started and ends, such as a cache. It has one
// goroutine. It ends once, for one reason, and in two steps: it is over when the reason
// is known, and gone when its goroutine has ended.
//
// The fields are set before Start. A Life that was never started is over and gone. Its
// methods lock no other mutex, and may be called under the owner's mutex.
type Life struct {
	Client *framework.Client

	// Closed is the reason of a life that Stop has ended. If it is nil, the reason is
	// context.Canceled.
	Closed error

	// Run runs until ctx ends, or returns an error. The context ends with the client, and
	// with Stop.
	Run func(ctx context.Context) error

	// Finish, if not nil, is called after Run, with the reason of the end. It reports the
	// end and cleans up, and may call End before it returns.
	Finish func(reason error)

	// GaveUp returns the error of a Wait whose context has ended, as
	// [Recovery.GaveUp] does.
	GaveUp func(ctx context.Context) error

	// The three contexts end when Run must stop, when the life is over, and when the life
	// is gone. The functions end these contexts.
	living, over, gone context.Context
	die, end, vanish   context.CancelCauseFunc

	mu      sync.Mutex    // protects the following field
	changed chan struct{} // closed by Tell; nil if no goroutine waits
}

// unborn is a context that has ended, for a life that was never started.
var unborn = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("was never started"))
	return ctx
}()

// Start starts the life. It returns framework.ErrClosed if the client is closed. The life
// is then over and gone, and neither Run nor Finish is called.
func (l *Life) Start() error {
	client := framework.Extend(l.Client)
	l.living, l.die = context.WithCancelCause(client.Context())
	l.over, l.end = context.WithCancelCause(context.Background())
	l.gone, l.vanish = context.WithCancelCause(context.Background())
	if client.Go(func(context.Context) { l.live() }) {
		return nil
	}
	l.leave(framework.ErrClosed, nil)
	return framework.ErrClosed
}

func (l *Life) live() {
	err := l.Run(l.living)
	l.leave(cmp.Or(context.Cause(l.living), err), l.Finish) // Run may have wrapped the cause in another error
}

func (l *Life) leave(reason error, finish func(error)) {
	if finish != nil {
		finish(reason)
	}
	l.End(reason)
	l.die(reason)
	l.vanish(nil)
}

// Stop ends the life. The reason is Closed, unless the life has already ended.
func (l *Life) Stop() {
	if l.gone != nil {
		l.die(l.Closed)
	}
}

// End makes the life over, for a reason, and wakes waiting goroutines. Only the first
// reason counts. The goroutine keeps running.
func (l *Life) End(reason error) {
	l.end(reason)
	l.Tell()
}

// Close calls Stop, and waits until the life is gone.
func (l *Life) Close() {
	l.Stop()
	l.WaitGone(context.Background())
}

// Over returns a context that ends when the life is over. Its cause is the result of Err.
func (l *Life) Over() context.Context { return cmp.Or(l.over, unborn) }

// Err returns the reason of a life that is over, or nil.
func (l *Life) Err() error { return context.Cause(l.Over()) }

// UnlessWanted returns nil for an end that the user asked for: Stop, or closing the
// client. It returns any other error unchanged. Logs leave out an end that the user asked
// for.
func (l *Life) UnlessWanted(err error) error {
	if reason.Is(err, l.Closed) || reason.Is(err, framework.ErrClosed) {
		return nil
	}
	return err
}

// Gone returns a channel that is closed when the life is gone. The life is over before
// that.
func (l *Life) Gone() <-chan struct{} { return cmp.Or(l.gone, unborn).Done() }

// WaitGone waits until the life is gone, or ctx ends. It returns true if the life is
// gone.
func (l *Life) WaitGone(ctx context.Context) bool {
	select {
	case <-l.Gone():
	case <-ctx.Done():
	}
	return cmp.Or(l.gone, unborn).Err() != nil // even if ctx has ended, too
}

// Tell notifies waiting goroutines of a change.
func (l *Life) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Changed returns a channel that is closed by the next Tell and at the end of the life,
// and the result of Err. A caller that calls Changed before it reads the changing state
// misses no change.
func (l *Life) Changed() (changed <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed, l.Err()
}

// Wait waits until a condition is true. It checks the condition after each Tell. It
// returns the result of Err if the life is over, or of GaveUp if ctx has ended.
func (l *Life) Wait(ctx context.Context, holds func() bool) error {
	for {
		changed, err := l.Changed()
		switch {
		case holds():
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return l.GaveUp(ctx)
		}
	}
}

// Ending is a call that waits until a node is gone, such as Shutdown. Every such call of
// the recipes uses an Ending, and so follows the rules in the index of the recipes.
type Ending struct {
	r    *Recovery
	ctx  context.Context // the caller's context
	wait context.Context // see Context
	end  context.CancelCauseFunc
	over chan struct{} // closed when the connection is no longer watched
}

// Ending starts a call that waits for the end of a node of the given session. The session
// is nil if it is unknown, or if the node does not depend on a session. The caller must
// call Done at the end.
func (r *Recovery) Ending(ctx context.Context, of *framework.Session) *Ending {
	e := &Ending{r: r, ctx: ctx, over: make(chan struct{})}
	e.wait, e.end = context.WithCancelCause(ctx)
	session := context.Background()
	if of != nil && of.Context().Err() == nil { // otherwise the client deletes the node in its next session
		session = of.Context()
	}
	go e.watch(session)
	return e
}

// watch ends the wait with the session, or when an outage has lasted for the connection
// timeout. Closing the client does not end the wait, because the awaited node ends with
// the client.
func (e *Ending) watch(session context.Context) {
	defer close(e.over)
	defer context.AfterFunc(session, func() { e.endUnlessClosed(context.Cause(session)) })()
	e.endUnlessClosed(insider.Of(e.r.Client).AwaitOutage(e.wait))
	<-e.wait.Done()
}

func (e *Ending) endUnlessClosed(why error) {
	if !reason.Is(why, framework.ErrClosed) {
		e.end(why)
	}
}

// Context returns the context of the wait. It ends with the caller's context, and when
// the rules say that the call must return.
func (e *Ending) Context() context.Context { return e.wait }

// Done ends the call.
func (e *Ending) Done() {
	e.end(nil)
	<-e.over
}

// Err returns the error of the call for one node, given the error of the wait for that
// node. The session is the node's session, or nil if the node does not depend on a
// session. If the wait has ended with Context, err must be the result of
// reason.OfContext, or the error of an operation under Context.
func (e *Ending) Err(of *framework.Session, err error) error {
	if reason.IsOfContext(e.wait, err) {
		err = fmt.Errorf("the node may still be there: %w", e.GaveUp())
	}
	if err == nil || of == nil || of.Context().Err() == nil {
		return err
	}
	left := of.AwaitEnd(e.ctx)
	switch {
	case left == nil: // a server has ended the session, and so has deleted the node
		return nil
	case !reason.Is(left, framework.ErrLeftToServers), reason.Is(err, framework.ErrLeftToServers):
		return err
	}
	return fmt.Errorf("%w (last error: %w)", left, err)
}

// GaveUp returns the error of a wait that has ended with Context.
func (e *Ending) GaveUp() error {
	if e.ctx.Err() != nil {
		return e.r.GaveUp(e.ctx)
	}
	return cmp.Or(e.r.WhyWaiting(), context.Cause(e.wait))
}

// Changes yields the results of next while they are new, and again after each Tell of a
// life, until ctx ends. When the life ends, Changes yields the remaining results of next,
// and then one last element: no value, and the life's Err, wrapped by named.
func Changes[T any](
	ctx context.Context, l *Life, next func() (v T, news bool), named func(error) error,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			changed, ended := l.Changed()
			v, news := next()
			switch {
			case ctx.Err() != nil:
				return
			case news:
				if !yield(v, nil) {
					return
				}
				continue
			case ended != nil:
				var none T
				yield(none, named(ended))
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
