package follow

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Ending is a call that waits until a node is gone, such as a Shutdown. Every such
// call of the recipes is an Ending, and keeps the rule that the documentation of
// package recipes states.
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
	var session context.Context
	if of != nil && of.Context().Err() == nil { // otherwise the next session is waited for
		session = of.Context()
	}
	go e.watch(session)
	return e
}

// watch ends the wait with the session, if that is not nil, and when an outage has
// lasted for the connection timeout. The end of the client does not end the wait:
// what is waited for ends with the client.
func (e *Ending) watch(session context.Context) {
	defer close(e.over)
	if session != nil {
		defer context.AfterFunc(session, func() { e.endUnlessClosed(context.Cause(session)) })()
	}
	e.endUnlessClosed(framework.Extend(e.r.Client).AwaitOutage(e.wait))
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
	if err == nil {
		return nil
	}
	why, gaveUp := e.why(err)
	if of != nil && of.Context().Err() != nil {
		switch left := of.AwaitEnd(e.ctx); {
		case left == nil: // a server has said so
			return nil
		case !reason.Is(left, framework.ErrLeftToServers): // ctx has ended
		case why == nil:
			return left
		case !reason.Is(why, framework.ErrLeftToServers):
			return fmt.Errorf("%w (last error: %w)", left, why)
		}
	}
	if gaveUp {
		return fmt.Errorf("the node may still be there: %w", cmp.Or(why, context.Cause(e.wait)))
	}
	return why
}

// why returns why a wait has failed, and whether it was given up. The reason is
// nil if it is nothing but the end of the session.
func (e *Ending) why(err error) (why error, gaveUp bool) {
	cause := context.Cause(e.wait)
	switch {
	case reason.IsOfContext(e.ctx, err):
		return e.r.GaveUp(e.ctx), true
	case !reason.IsOfContext(e.wait, err):
		return err, false
	case reason.Is(cause, framework.ErrSessionLost):
		return e.r.Obstacle(), true
	}
	return cmp.Or(e.r.Obstacle(), cause), true
}
