package follow

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

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
	var session context.Context
	if of != nil && of.Context().Err() == nil { // otherwise the client asks in its next session
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
	gaveUp := reason.IsOfContext(e.wait, err)
	if gaveUp {
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
	case gaveUp && e.ctx.Err() == nil && reason.Is(context.Cause(e.wait), framework.ErrSessionLost):
		return left // it names the loss already
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
