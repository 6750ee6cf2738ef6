package barriers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// Passage is a member that has entered a DoubleBarrier. It is safe for
// concurrent use. Leave must be called on it: until then the others cannot
// leave.
type Passage struct {
	barrier *DoubleBarrier
	name    string
	round   []string // names of members, in order; nil in Curator's layout
	node    framework.Created

	ctx    context.Context // of the member, who is inside
	cancel context.CancelCauseFunc

	life     context.Context // of the goroutine; ends with the session, and so with the client
	leaving  context.Context // ends when Leave is called
	leave    context.CancelFunc
	patience context.Context // ends with life, and when the last Leave that waits gives up
	giveUp   context.CancelCauseFunc
	waiting  atomic.Int32 // Leaves that have not given up

	// These two belong to the goroutine.
	loop follow.Loop
	gone bool // the node is known to be deleted

	over context.Context         // ends when it is known what Leave returns; see outcome
	end  context.CancelCauseFunc // the first cause counts
}

// newPassage starts the only goroutine of a member that is inside.
func newPassage(ctx context.Context, e *entry) (*Passage, error) {
	c := e.barrier.client
	p := &Passage{
		barrier: e.barrier, name: e.name, round: e.round, node: e.node,
		loop: follow.Loop{Recovery: follow.Recovery{
			Client: c, Ends: endsPassage,
			Awaited: true, // the other members wait for what this one does
			What:    "passage of a double barrier", About: func() slog.Attr { return logPath(c, e.node.Path) },
		}},
	}
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	life, told := trace.Unblocked(e.node.Session.Context(), c) // the requests do not wait for a tracer
	p.life = life
	p.leaving, p.leave = context.WithCancel(context.Background())
	p.patience, p.giveUp = context.WithCancelCause(life)
	p.over, p.end = context.WithCancelCause(context.Background())
	trusted := e.node.Session.Trusted(framework.Extend(c).ErrorPolicy())
	if !framework.Extend(c).Go(func(context.Context) { p.run(trusted, told) }) {
		p.finish(framework.ErrClosed)
		return nil, framework.ErrClosed
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
// If ctx ends first, this member leaves all the same: Leave tells the servers,
// for which it takes at most another half second, and the others do not take
// the member for lost. If there is no connection in that time, the client goes
// on in the background; a client that is closed by then cannot, and the others
// take the member for lost. The error matches ErrNotLeft and the context's
// error.
//
// If this member's session is lost, Leave does not wait for the others. The
// error matches framework.ErrSessionLost then.
//
// Leave may be called again, and returns what the first Leave returned. Of
// several at the same time, each waits as long as its own context allows. The
// member gives up with the last of them.
func (p *Passage) Leave(ctx context.Context) error {
	if p.leaving.Err() != nil && p.over.Err() != nil { // it has left before
		return errorOf("leave", p.barrier.path, p.outcome())
	}
	begun := time.Now()
	err := errorOf("leave", p.barrier.path, p.leaveUntil(ctx))
	traceWait(p.barrier.client, "leave", p.barrier.path, begun, err)
	return err
}

// leaveUntil waits until the member is out, or ctx ends. If no other Leave goes
// on waiting then, the member gives up.
func (p *Passage) leaveUntil(ctx context.Context) error {
	defer p.leave()
	p.waiting.Add(1)
	p.cancel(ErrLeft)     // before the goroutine knows, which may soon be done
	if ctx.Err() == nil { // otherwise it gives up at once, and does not wait
		p.leave()
		select {
		case <-p.over.Done():
		case <-ctx.Done():
		}
	}
	othersWait := p.waiting.Add(-1) > 0
	if p.over.Err() != nil {
		return p.outcome()
	}
	err := fmt.Errorf("%w: %w", ErrNotLeft, p.loop.GaveUp(ctx))
	if othersWait {
		return err
	}
	p.giveUp(err)
	p.leave()
	select {
	case <-p.over.Done():
	case <-time.After(lastWords):
		p.end(context.Cause(p.patience)) // what the servers say later changes no answer
	}
	return p.outcome()
}

// outcome returns what Leave returns of a passage that is over.
func (p *Passage) outcome() error { return ignore(context.Cause(p.over), follow.ErrDone) }

// lastWords is how long a call that gives up waits for the servers. Without
// that, a client that is closed right after a Leave would take the news with
// it.
const lastWords = 500 * time.Millisecond

// abandon leaves, and waits for nobody.
func (p *Passage) abandon() {
	p.cancel(ErrLeft)
	p.giveUp(ErrNotLeft)
	p.leave()
}

// run is the goroutine of a member that is inside, for as long as the session
// is trusted. The user's code may end it, as runtime.Goexit does.
func (p *Passage) run(trusted context.Context, told func()) {
	defer context.AfterFunc(trusted, func() { p.cancel(context.Cause(trusted)) })()
	defer told()
	err := follow.ErrNoReturn
	defer func() {
		if err != nil && !p.gone {
			framework.Extend(p.barrier.client).DeleteInBackground(p.node.Path)
		}
		p.finish(p.because(err))
	}()
	err = p.stayOrResign()
}

// stayOrResign stays until all have left, or the last Leave gives up.
func (p *Passage) stayOrResign() error {
	member := p.barrier.layout.inside(p)
	err := member.stay(p.patience)
	if !reason.IsOfContext(p.patience, err) || p.life.Err() != nil {
		return err
	}
	if err := member.resign(p.life); err != nil {
		return err
	}
	return context.Cause(p.patience)
}

// because returns why the passage has ended, when its goroutine has with err. If
// a Leave has given up, its error comes first.
func (p *Passage) because(err error) error {
	if err == nil || reason.Is(err, ErrNotLeft) {
		return err
	}
	if p.life.Err() != nil {
		err = context.Cause(p.life)
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

// done makes the success of a look the end of the loop.
func done(err error) error {
	if err == nil {
		return follow.ErrDone
	}
	return err
}

// awaitGone waits until a member has gone.
func (p *Passage) awaitGone(ctx context.Context, name string) error {
	there, _, watch, err := p.barrier.client.ExistsW(ctx, p.barrier.child(name))
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

// finish ends the passage.
func (p *Passage) finish(err error) {
	if err != nil && p.ctx.Err() == nil {
		c := p.barrier.client
		framework.Extend(c).Logger().Warn("passage of a double barrier ends", logPath(c, p.node.Path), semconv.Cause, err)
	}
	p.cancel(err)
	p.giveUp(err)
	p.end(cmp.Or(err, follow.ErrDone))
}
