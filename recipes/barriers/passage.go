package barriers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Passage is a member that has entered a DoubleBarrier. It has no goroutine, and is safe
// for concurrent use. Leave must be called on it: until then, no other member can leave.
type Passage struct {
	place
	name    string
	session *framework.Session // owns the member's node

	// The context of the work inside. Leave ends it.
	ctx    context.Context
	cancel context.CancelCauseFunc

	leaving atomic.Bool   // Leave was called
	left    chan struct{} // closed when outcome is known
	outcome error         // the result of the first Leave
}

func newPassage(ctx context.Context, e *entry) *Passage {
	p := &Passage{place: e.place, name: e.name, session: e.session, left: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	trusted := e.session.Trusted(framework.Extend(e.client).ErrorPolicy())
	stop := context.AfterFunc(trusted, func() { cancel(context.Cause(trusted)) })
	p.ctx, p.cancel = ctx, func(cause error) {
		stop()
		cancel(cause)
	}
	return p
}

// Context returns a context for the work inside. It has the values of the context that
// was given to Enter, but not the deadline. It ends with one of these causes:
//
//   - framework.ErrSessionLost, framework.ErrSuspended or framework.ErrClosed:
//     this member can no longer be trusted to be inside; see
//     framework.Session.Trusted.
//   - ErrLeft: Leave was called.
//
// The context does not end when another member is lost.
func (p *Passage) Context() context.Context { return p.ctx }

// Name returns the name of this member's node.
func (p *Passage) Name() string { return p.name }

// Leave deletes this member's node, and waits until all members have left that had
// entered when Leave was called. A member whose session was lost counts as having left.
//
// In an outage, Leave returns an error when ctx or the connection timeout is over, and
// the client deletes the node in the background; see "How a call ends a node" in the
// index of the recipes. In that case, and if ctx ends first, this member leaves without
// the others: Leave deletes the member's node, and waits at most another half second for
// that. Until the node is gone, the other members count this member as inside. The error
// also matches ErrNotLeft.
//
// If this member's session is lost, Leave does not wait for the others. The error then
// matches framework.ErrSessionLost. It also matches framework.ErrLeftToServers, unless a
// server has confirmed the end of the session.
//
// If Leave is called again, it returns the result of the first call. A second Leave waits
// for the first one to finish. If the context of the second Leave ends sooner, its error
// matches ErrNotLeft.
func (p *Passage) Leave(ctx context.Context) error {
	if !p.leaving.CompareAndSwap(false, true) {
		return p.awaitLeft(ctx)
	}
	p.cancel(ErrLeft)
	begun, l := time.Now(), &leave{call: p.call(), name: p.name, session: p.session}
	p.outcome = ErrNotLeft
	defer func() {
		if p.outcome == ErrNotLeft { //nolint:errorlint // l.leave wraps it; a hook has panicked
			framework.Extend(p.client).DeleteInBackground(l.node())
		}
		close(p.left)
	}()
	p.outcome = l.leave(ctx)
	return p.waited("leave", begun, p.outcome)
}

// awaitLeft waits for the first Leave.
func (p *Passage) awaitLeft(ctx context.Context) error {
	select {
	case <-p.left:
	case <-ctx.Done():
	}
	select {
	case <-p.left: // even if ctx has ended, too
		return p.errorOf("leave", p.outcome)
	default:
		return p.errorOf("leave", fmt.Errorf("%w: %w", ErrNotLeft, reason.OfContext(ctx)))
	}
}

// leave is the state of one Leave.
type leave struct {
	*call
	name    string
	session *framework.Session
	since   int64    // the zxid of the first listing, or 1 if the barrier had no node then; 0 before it
	waitFor []string // the members of the first listing that are still there, in order
	deleted bool     // the member's node was deleted
}

// lastWords is how long a call that gives up waits for the servers. Without this wait,
// the deletion would be lost if the client is closed right after Leave.
const lastWords = 500 * time.Millisecond

func (l *leave) leave(ctx context.Context) error {
	l.Ends = endsLeave
	if l.session.Context().Err() != nil {
		l.resign()
		return l.lost(ctx)
	}
	ending := l.Ending(ctx, l.session)
	defer ending.Done()
	err := l.run(ending.Context(), l.look)
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && (l.session.Context().Err() != nil || reason.Is(err, framework.ErrClosed)):
		l.resign()
		return l.lost(ctx)
	case reason.IsOfContext(ending.Context(), err):
		err = fmt.Errorf("%w: %w", ErrNotLeft, ending.GaveUp())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	l.resign().WaitGone(ctx)
	return err
}

// resign leaves in the background, without waiting for other members. It retries through
// outages, and ends with the client.
func (l *leave) resign() *follow.Life {
	life := &follow.Life{Client: l.client, Run: func(ctx context.Context) error { return l.run(ctx, l.deleteAndGo) }}
	_ = life.Start() // a closed client has ended the session
	return life
}

// endsLeave reports whether an error ends a Leave: a member is inside in one session
// only.
func endsLeave(err error) bool { return reason.Is(err, framework.ErrSessionLost) }

// lost returns the error of a member whose session is over. The servers may still have
// the member's node.
func (l *leave) lost(ctx context.Context) error {
	left := l.session.AwaitEnd(ctx)
	if reason.Is(left, framework.ErrLeftToServers) {
		return left
	}
	return cmp.Or(context.Cause(l.session.Context()), left)
}

func (l *leave) node() string { return l.child(l.name) }

// look does what Java's leave does. The first member by name waits for the last one, and
// deletes its node after all others. Every other member deletes its node and waits for
// the first one. So only one deletion wakes many members.
func (l *leave) look(ctx context.Context, s *framework.Session) error {
	if s != l.session {
		return framework.ErrSessionLost
	}
	now, err := l.list(ctx)
	if err != nil {
		return err
	}
	there := len(l.waitFor)
	switch {
	case there == 0 && l.deleted:
		return done(l.close(ctx, now))
	case there > 0 && l.name < l.waitFor[0] && !l.deleted:
		return l.awaitGone(ctx, l.waitFor[there-1])
	}
	if err := l.deleteOwn(ctx); err != nil || there == 0 { // the next step closes the barrier
		return err
	}
	return l.awaitGone(ctx, l.waitFor[0])
}

// list records which of the other members are there. The first listing decides for which
// members Leave waits. The server catches up before it, so that the listing includes
// every member that had entered when Leave was called.
func (l *leave) list(ctx context.Context) (listing, error) {
	list, first := l.client.Children, l.since == 0
	if first {
		list = insider.Of(l.client).CurrentSiblings
	}
	now, err := l.see(ctx, list, l.name)
	switch {
	case err != nil:
	case first:
		l.waitFor, l.since = now.others, max(now.zxid, 1)
	default:
		l.waitFor = slices.DeleteFunc(l.waitFor, func(name string) bool {
			_, there := slices.BinarySearch(now.others, name)
			return !there
		})
	}
	return now, err
}

// awaitGone waits for a change of another member's node. A Java member may have left and
// entered again under the same name; its new node is younger than the first listing and
// is not waited for.
func (l *leave) awaitGone(ctx context.Context, name string) error {
	waited, err := l.awaitChange(ctx, l.child(name), func(stat *zk.Stat) bool { return stat.Czxid <= l.since })
	if err == nil && !waited {
		l.waitFor = slices.DeleteFunc(l.waitFor, func(other string) bool { return other == name })
	}
	return err
}

// deleteAndGo leaves without waiting for other members.
func (l *leave) deleteAndGo(ctx context.Context, _ *framework.Session) error {
	if err := l.deleteOwn(ctx); err != nil {
		return err
	}
	now, err := l.see(ctx, l.client.Children, l.name)
	if err != nil {
		return err
	}
	return done(l.close(ctx, now))
}

// close closes the barrier if no other member was there after this member's node was
// deleted. If another member was there, the barrier stays open: that member may not have
// seen the opening yet, and other members may wait for it. If a member arrives later, it
// sees an open barrier without members, and closes it.
func (l *leave) close(ctx context.Context, now listing) error {
	if len(now.others) > 0 || !now.open {
		return nil
	}
	return l.deleteReady(ctx)
}

func (l *leave) deleteOwn(ctx context.Context) error {
	if l.deleted {
		return nil
	}
	err := l.client.Delete(ctx, l.node(), framework.AnyVersion, framework.WithMissingOK())
	l.deleted = err == nil
	return err
}
