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

// Life is the life of something that is started and ends, such as a cache. One
// goroutine lives it. It ends once, for one reason, and in two steps: it is over
// when the reason is known, and gone when nothing of it goes on any more.
//
// The fields are set before Start. A Life that was never started is over and
// gone. Its methods take no other mutex, and may be called under the owner's.
type Life struct {
	Client *framework.Client

	// Closed is the reason of a life that Stop has ended; if nil,
	// context.Canceled.
	Closed error

	// Run lives until ctx ends, or an error ends it. The context ends with the
	// client, and with Stop.
	Run func(ctx context.Context) error

	// Finish, if not nil, is called when Run has ended, with the reason of that.
	// It tells of the end and tidies up, and may call End before it returns.
	Finish func(reason error)

	// GaveUp returns the error of a Wait whose context has ended, as
	// [Recovery.GaveUp] does.
	GaveUp func(ctx context.Context) error

	// These are the context of Run, one that ends when the life is over, and one
	// that ends when it is gone, with what ends them.
	living, over, gone context.Context
	die, end, vanish   context.CancelCauseFunc

	mu      sync.Mutex    // protects the following field
	changed chan struct{} // closed by Tell; nil if nobody waits for that
}

// unborn is over.
var unborn = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("was never started"))
	return ctx
}()

// Start begins the life. The error is framework.ErrClosed if the client is
// closed. The life is over and gone then, and neither Run nor Finish is called.
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
	l.leave(cmp.Or(context.Cause(l.living), err), l.Finish) // Run may have seen the cause in another error
}

func (l *Life) leave(reason error, finish func(error)) {
	if finish != nil {
		finish(reason)
	}
	l.End(reason)
	l.die(reason)
	l.vanish(nil)
}

// Stop has the life end, with the reason Closed unless it has ended before.
func (l *Life) Stop() {
	if l.gone != nil {
		l.die(l.Closed)
	}
}

// End makes the life over, for a reason, and wakes those who wait. The first
// reason counts. The goroutine goes on.
func (l *Life) End(reason error) {
	l.end(reason)
	l.Tell()
}

// Close is Stop, and waits until nothing of the life goes on.
func (l *Life) Close() {
	l.Stop()
	l.WaitGone(context.Background())
}

// Over returns a context that ends when the life is over. Its cause is Err.
func (l *Life) Over() context.Context { return l.orUnborn(l.over) }

func (l *Life) orUnborn(ctx context.Context) context.Context {
	if ctx == nil {
		return unborn
	}
	return ctx
}

// Err returns the reason of a life that is over, or nil.
func (l *Life) Err() error { return context.Cause(l.Over()) }

// UnlessWanted returns an error, or nil if it is an end that the user wanted: Stop,
// or the end of the client. Logs have no line of such an end.
func (l *Life) UnlessWanted(err error) error {
	if reason.Is(err, l.Closed) || reason.Is(err, framework.ErrClosed) {
		return nil
	}
	return err
}

// Gone returns a channel that is closed when nothing of the life goes on any
// more. The life is over before.
func (l *Life) Gone() <-chan struct{} { return l.orUnborn(l.gone).Done() }

// WaitGone waits until the life is gone, or ctx ends, and reports whether it is
// gone.
func (l *Life) WaitGone(ctx context.Context) bool {
	select {
	case <-l.Gone():
	case <-ctx.Done():
	}
	return l.orUnborn(l.gone).Err() != nil // ctx may have ended, too
}

// Tell says that something has changed, to those who wait.
func (l *Life) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Changed returns Err, and a channel that is closed by the next Tell, and at the
// end of the life. Whoever then looks at what may have changed misses nothing.
func (l *Life) Changed() (changed <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed, l.Err()
}

// Wait waits until a condition holds. It asks at each Tell. The error is Err's, or
// what GaveUp returns.
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

// Ending is a call that waits until a node is gone, such as a Shutdown. Every such
// call of the recipes is an Ending, and keeps the rule that the index of the
// recipes states.
type Ending struct {
	r    *Recovery
	ctx  context.Context // the caller's
	wait context.Context // see Context
	end  context.CancelCauseFunc
	over chan struct{} // closed when nothing watches the connection any more
}

// Ending begins a call that waits for the end of a node of the given session. The
// session is nil if it is not known, or if the node does not depend on one. Done
// must be called at the end.
func (r *Recovery) Ending(ctx context.Context, of *framework.Session) *Ending {
	e := &Ending{r: r, ctx: ctx, over: make(chan struct{})}
	e.wait, e.end = context.WithCancelCause(ctx)
	session := context.Background()
	if of != nil && of.Context().Err() == nil { // otherwise the client asks in its next session
		session = of.Context()
	}
	go e.watch(session)
	return e
}

// watch ends the wait with the session, and when an outage has
// lasted for the connection timeout. The end of the client does not end the wait:
// what is waited for ends with the client.
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

// Context returns the context of the wait. It ends with the caller's, and when the
// rule says that the call returns.
func (e *Ending) Context() context.Context { return e.wait }

// Done ends the call.
func (e *Ending) Done() {
	e.end(nil)
	<-e.over
}

// Err returns the error of the call for one node, by the error of the wait for that
// node. The session is the node's, or nil if the node does not depend on one. A wait
// that has ended with Context has the error that reason.OfContext returns, or one
// that an operation returns then.
func (e *Ending) Err(of *framework.Session, err error) error {
	if reason.IsOfContext(e.wait, err) {
		err = fmt.Errorf("the node may still be there: %w", e.GaveUp())
	}
	if err == nil || of == nil || of.Context().Err() == nil {
		return err
	}
	left := of.AwaitEnd(e.ctx)
	switch {
	case left == nil: // a server has ended the session, and so deleted the node
		return nil
	case !reason.Is(left, framework.ErrLeftToServers), reason.Is(err, framework.ErrLeftToServers):
		return err
	}
	return fmt.Errorf("%w (last error: %w)", left, err)
}

// GaveUp returns the error of a wait that Context has ended.
func (e *Ending) GaveUp() error {
	if e.ctx.Err() != nil {
		return e.r.GaveUp(e.ctx)
	}
	return cmp.Or(e.r.Obstacle(), context.Cause(e.wait))
}

// Changes yields what next returns, for as long as that is news, and again at
// each Tell of a life, until ctx ends. The end of the life is the last element:
// no value, and Err as named makes it. A life that ends is heard to the end of
// its news.
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
