package barriers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// Passage is a member that has entered a DoubleBarrier. It is safe for
// concurrent use. Leave must be called on it: until then the others cannot
// leave.
type Passage struct {
	place
	name  string
	round []string // names of members, in order; nil in Curator's layout
	node  framework.Created

	// These are the context of the work inside, and how it is ended.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// Leave stops the life, which goes on until the member is out, and is over when
	// it is known what Leave returns. Its requests are made under session, which
	// ends with the member's session, and so with the client. The last Leave that
	// gives up ends patience, and so does the end of session.
	life              follow.Life
	session, patience context.Context
	giveUp            context.CancelCauseFunc
	waiting           atomic.Int32 // Leaves that have not given up

	// These belong to the goroutine.
	inside inside
	loop   follow.Loop
	gone   bool  // the node is known to be deleted
	why    error // why the member is out; nil if all have left
}

// newPassage starts the only goroutine of a member that is inside.
func newPassage(ctx context.Context, e *entry) (*Passage, error) {
	p := &Passage{place: e.place, name: e.name, round: e.round, node: e.node}
	p.inside = e.layout.inside(p)
	p.loop.Client, p.loop.Ends = e.client, endsPassage
	p.loop.Awaited = true // the other members wait for what this one does
	p.loop.What, p.loop.About = "passage of a double barrier", p.events.At(e.node.Path).Path
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	session, told := trace.Unblocked(e.node.Session.Context(), e.client) // the requests do not wait for a tracer
	p.session = session
	p.patience, p.giveUp = context.WithCancelCause(session)
	trusted := e.node.Session.Trusted(framework.Extend(e.client).ErrorPolicy())
	stop := context.AfterFunc(trusted, func() { p.cancel(context.Cause(trusted)) })
	p.life = follow.Life{Client: e.client, Closed: ErrLeft, Run: p.run, Finish: func(error) {
		p.finish()
		told()
		stop()
	}}
	if err := p.life.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// Context returns a context for the work inside. It has the values of the
// context of Enter, but not its deadline. It ends with one of these causes:
//
//   - ErrMemberLost, in a *MemberLostError: another member was lost before it
//     left. Not in Curator's layout.
//   - framework.ErrSessionLost, framework.ErrSuspended or framework.ErrClosed:
//     this member can no longer be trusted to be inside; see
//     framework.Session.Trusted.
//   - ErrNodeDeleted: somebody deleted the node of this member. Not in
//     Curator's layout.
//   - ErrLeft: Leave was called.
func (p *Passage) Context() context.Context { return p.ctx }

// Members returns the names of the nodes of the n members that have entered
// together, in order. It is nil in Curator's layout, which does not tell.
func (p *Passage) Members() []string { return slices.Clone(p.round) }

// Name returns the name of this member's node.
func (p *Passage) Name() string { return p.name }

// Leave tells the others that this member leaves, and waits until all members
// of the round have left. A member that was lost has left. When Leave returns
// nil, no node of the round is there.
//
// When Leave returns earlier is the same for all recipes: see "How a call ends a
// node" in the index of the recipes. If ctx ends first, or there was no connection
// for the connection timeout, this member leaves all the same: Leave tells the
// servers, for which it takes at most another half second, and the others do not
// take the member for lost. If there is no connection in that time, the client goes
// on in the background; a client that is closed by then cannot, and the others take
// the member for lost. The error also matches ErrNotLeft.
//
// If this member's session is lost, Leave does not wait for the others. The
// error matches framework.ErrSessionLost then, and framework.ErrLeftToServers
// unless a server has said that it has ended the session.
//
// Leave may be called again, and returns what the first Leave returned. Of
// several at the same time, each waits as long as its own context allows. The
// member gives up with the last of them.
func (p *Passage) Leave(ctx context.Context) error {
	if p.life.Stopped().Err() != nil && p.life.Err() != nil { // it has left before
		return p.errorOf("leave", p.outcome(ctx))
	}
	begun := time.Now()
	return p.waited("leave", begun, p.leaveUntil(ctx))
}

// leaveUntil waits until the member is out, or ctx ends. If no other Leave goes
// on waiting then, the member gives up.
func (p *Passage) leaveUntil(ctx context.Context) error {
	defer p.life.Stop()
	ending := p.loop.Ending(ctx, nil) // the life ends with the session
	defer ending.Done()
	p.waiting.Add(1)
	p.cancel(ErrLeft)     // the goroutine, once it knows, may end it with another cause
	if ctx.Err() == nil { // otherwise the member gives up at once, and does not mark its node
		p.life.Stop()
		select {
		case <-p.life.Over().Done():
		case <-ending.Context().Done():
		}
	}
	othersWait := p.waiting.Add(-1) > 0
	if p.life.Err() != nil {
		return p.outcome(ctx)
	}
	err := fmt.Errorf("%w: %w", ErrNotLeft, ending.GaveUp())
	if othersWait {
		return err
	}
	p.giveUp(err)
	select {
	case <-p.life.Over().Done():
	case <-time.After(lastWords):
		p.life.End(context.Cause(p.patience)) // what the servers say later changes no answer
	}
	return p.outcome(ctx)
}

// outcome returns what Leave returns of a passage that is over. If it has ended with
// its session, the node may still be there.
func (p *Passage) outcome(ctx context.Context) error {
	err := ignore(p.life.Err(), follow.ErrDone)
	if !reason.Is(err, framework.ErrSessionLost) && !reason.Is(err, framework.ErrClosed) {
		return err
	}
	if left := p.node.Session.AwaitEnd(ctx); reason.Is(left, framework.ErrLeftToServers) {
		return fmt.Errorf("%w: %w", framework.ErrLeftToServers, err)
	}
	return err
}

// lastWords is how long a call that gives up waits for the servers. Without
// that, a client that is closed right after a Leave would take the news with
// it.
const lastWords = 500 * time.Millisecond

// abandon leaves, and waits for nobody.
func (p *Passage) abandon() {
	p.cancel(ErrLeft)
	p.giveUp(ErrNotLeft)
	p.life.Stop()
}

// run is the goroutine of a member that is inside. It stays until all have left,
// or the last Leave gives up, or the session ends. The user's code may end it, as
// runtime.Goexit does.
func (p *Passage) run(context.Context) error {
	p.why = follow.ErrNoReturn
	err := p.inside.stay(p.patience)
	if reason.IsOfContext(p.patience, err) && p.session.Err() == nil {
		if err = p.inside.resign(p.session); err == nil {
			err = context.Cause(p.patience)
		}
	}
	p.why = err
	return err
}

// reasonOf returns why the passage ends, whose goroutine ends with err. If a
// Leave has given up, its error comes first.
func (p *Passage) reasonOf(err error) error {
	if err == nil || reason.Is(err, ErrNotLeft) {
		return err
	}
	if p.session.Err() != nil {
		err = context.Cause(p.session)
	}
	if gaveUp := context.Cause(p.patience); reason.Is(gaveUp, ErrNotLeft) {
		err = fmt.Errorf("%w: %w", gaveUp, err)
	}
	return err
}

// follow calls look again and again, until it returns follow.ErrDone. It returns
// an error if this member is out before.
func (p *Passage) follow(ctx context.Context, look func(context.Context) error) error {
	p.loop.Look = func(ctx context.Context, _ *framework.Session) error { return look(ctx) }
	return p.loop.Run(ctx)
}

// awaitGone waits until a member has gone.
func (p *Passage) awaitGone(ctx context.Context, name string) error {
	there, _, watch, err := p.client.ExistsW(ctx, p.child(name))
	if err != nil {
		return err
	}
	defer watch.Stop()
	p.loop.Recovered()
	if there {
		_, err = watch.Wait(ctx)
	}
	return err
}

// endsPassage is the Ends of a member that is inside: it is so in one session,
// and with one node.
func endsPassage(err error) bool {
	return reason.Is(err, framework.ErrSessionLost) || reason.Is(err, ErrNodeDeleted) ||
		reason.Is(err, ErrForeignData) || reason.Is(err, follow.ErrNoReturn)
}

// finish ends the passage. It goes by what run has noted: the reason of the life
// is the end of the client if that has come just behind the end of the round.
func (p *Passage) finish() {
	if p.why != nil && !p.gone {
		framework.Extend(p.client).DeleteInBackground(p.node.Path)
	}
	err := p.reasonOf(p.why)
	news := err != nil && p.ctx.Err() == nil && p.session.Err() == nil
	p.cancel(err)
	if news {
		p.events.At(p.node.Path).Emit(eventEnds, err)
	}
	p.giveUp(err)
	p.life.End(cmp.Or(err, follow.ErrDone))
}
