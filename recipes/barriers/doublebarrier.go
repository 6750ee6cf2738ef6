package barriers

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// DoubleBarrier lets n members enter together, and leave together. It is
// Curator's DistributedDoubleBarrier, and Go and Java processes may be members
// together. The package documentation has its limits.
//
// It may be used for any number of rounds. All members must use the same n.
//
// A DoubleBarrier has no goroutine and need not be closed. It is safe for
// concurrent use, and each Enter is another member.
type DoubleBarrier struct {
	place
	n int
}

// NewDoubleBarrier returns a barrier for n members, without contacting the
// server. A client, a path or an n that cannot be used is an error of every call.
// An n below 1 cannot be used.
func NewDoubleBarrier(c *framework.Client, path string, n int) *DoubleBarrier {
	b := &DoubleBarrier{place: newPlace(c, path), n: n}
	if n < 1 {
		b.fault = &framework.ConfigError{Name: "number of members", Value: strconv.Itoa(n), Reason: "must be at least 1"}
	}
	return b
}

// Enter waits until n members are there, and returns the passage of this one.
// Leave must be called on it. If members are inside already, Enter does not wait.
//
// A process that crashed while it waited counts until its session has ended.
// Enter survives outages and losses of its own session, until ctx ends: this
// member counts once, and enters with its node in the next session.
//
// If ctx ends first, the error matches ErrNotEntered. If Enter fails, the Passage
// is nil, and the client deletes the member's node, in the background if need be.
func (b *DoubleBarrier) Enter(ctx context.Context) (p *Passage, err error) {
	if err := b.unusable(); err != nil {
		return nil, b.errorOf("enter", err)
	}
	begun := time.Now()
	e := &entry{
		call: b.call(), n: b.n, name: strings.ToLower(rand.Text()), data: b.identity(begun),
		vanished: pauses.Vanished(), beaten: pauses.Contention(),
	}
	defer func() {
		if p == nil && e.asked != nil { // Enter fails, or a hook has panicked
			framework.Extend(b.client).DeleteInBackground(e.node())
			// The barrier may be open, because of this member alone.
			(&leave{call: b.call(), name: e.name}).resign()
		}
	}()
	err = e.run(ctx, e.look)
	if reason.IsOfContext(ctx, err) {
		err = fmt.Errorf("%w: %d of %d were there: %w", ErrNotEntered, e.seen, e.n, err)
	}
	if err := b.waited("enter", begun, err); err != nil {
		return nil, err
	}
	return newPassage(ctx, e), nil
}

// readyName is the name of the node that opens a barrier.
const readyName = "ready"

func (p place) deleteReady(ctx context.Context) error {
	return p.client.Delete(ctx, p.child(readyName), framework.AnyVersion, framework.WithMissingOK())
}

// lister lists the children of a node, as Client.Children does.
type lister func(ctx context.Context, path string) ([]string, *zk.Stat, error)

// listing is what a member sees of a barrier.
type listing struct {
	others []string // all members but this one, in order
	open   bool     // the node that opens the barrier is there
	zxid   int64    // of the last change among all of these nodes; 0 if the barrier has no node
}

// see lists a barrier, for the member with a name.
func (p place) see(ctx context.Context, list lister, own string) (listing, error) {
	names, stat, err := list(ctx, p.path)
	if err != nil {
		return listing{}, ignore(err, zk.ErrNoNode)
	}
	now := listing{open: slices.Contains(names, readyName), zxid: stat.Pzxid}
	now.others = slices.DeleteFunc(names, func(name string) bool { return name == own || name == readyName })
	slices.Sort(now.others)
	return now, nil
}

// entry is an Enter that is under way. The member's node has the same name in
// every session. So there is one such node at a time, even if a server applies a
// create late, and Java members count this member once.
type entry struct {
	*call
	n        int
	name     string
	data     []byte
	vanished pauses.Growing
	beaten   pauses.Growing // other members were first

	asked   *framework.Session // a create was sent in it last, and may have been applied; nil before
	session *framework.Session // owns the node; nil if there is none yet, or no more
	czxid   int64              // of that node
	seen    int                // the number of members at the last look
	enough  bool               // there were n members while the session had the node
}

func (e *entry) node() string { return e.child(e.name) }

// look enters, or waits for a change. If the member's node vanishes meanwhile, the
// next look creates it again.
func (e *entry) look(ctx context.Context, s *framework.Session) error {
	err := e.enter(ctx, s)
	if e.session == s && reason.Is(err, zk.ErrNoNode) {
		e.session = nil
		return e.vanished.Wait(ctx)
	}
	return err
}

func (e *entry) enter(ctx context.Context, s *framework.Session) error {
	if e.enough && e.session == s {
		return done(e.open(ctx))
	}
	open, _, ready, err := e.client.ExistsW(ctx, e.child(readyName))
	if err != nil {
		return err
	}
	defer ready.Stop()
	if open {
		ready.Stop()
		if open, err = e.isReallyOpen(ctx, s); err != nil {
			return err
		}
		if !open { // the first time, the next look may find an opening
			return e.beaten.Wait(ctx)
		}
	}
	if err := e.create(ctx, s); err != nil || e.session != s {
		return err
	}
	switch {
	case open:
		return follow.ErrDone
	case hasOpened(ready): // perhaps before the member's node was there
		return nil
	}
	err = e.meet(ctx, ready)
	if hasOpened(ready) { // whatever became of the requests
		return follow.ErrDone
	}
	return err
}

// hasOpened reports whether the watch has seen the opening.
func hasOpened(ready *framework.Watch) bool {
	select {
	case <-ready.Done():
		event, err := ready.Event()
		return err == nil && event.Type == zk.EventNodeCreated
	default:
		return false
	}
}

// meet opens the barrier if n members are there, and waits for its opening
// otherwise. A member that has once seen n members enters, even if the reply to its
// opening is lost, and the others have left meanwhile.
func (e *entry) meet(ctx context.Context, ready *framework.Watch) error {
	now, err := e.see(ctx, e.client.Children, e.name)
	if err != nil {
		return err
	}
	if e.seen = len(now.others) + 1; e.seen < e.n {
		return e.awaitReady(ctx, ready)
	}
	e.enough = true
	return done(e.open(ctx))
}

// isReallyOpen reports whether the barrier is open for this member, when there was a
// node that opens it. Another member is inside then, or has been since this member's
// node was created: it may have deleted its node, and wait for this one in its Leave.
// Otherwise a crash has left the node that opens the barrier, and it is deleted here.
// Another member may have done that since, and may wait by now: its node looks like
// the node of a member inside, but nothing opens the barrier.
func (e *entry) isReallyOpen(ctx context.Context, s *framework.Session) (bool, error) {
	if e.asked == s { // this member's node may be there, even if the reply to its create was lost
		if err := e.create(ctx, s); err != nil || e.session != s {
			return false, err
		}
	}
	// Without that, the server may show a round that is over.
	now, err := e.see(ctx, insider.Of(e.client).CurrentSiblings, e.name)
	if err != nil {
		return false, err
	}
	if len(now.others) > 0 || e.session == s && now.zxid > e.czxid {
		open, _, err := e.client.Exists(ctx, e.child(readyName))
		return open, err
	}
	return false, e.deleteReady(ctx)
}

// create creates the member's node, unless it is there. A node of an earlier
// session of this member ends with that session. Until then create waits, and
// the session is not noted.
func (e *entry) create(ctx context.Context, s *framework.Session) error {
	if e.session == s {
		return nil
	}
	e.asked = s
	made, err := e.client.Create(ctx, e.node(), e.data, framework.WithParents(), framework.WithMode(framework.Ephemeral))
	ours, czxid := err == nil, made.Czxid
	if reason.Is(err, zk.ErrNodeExists) {
		_, err = e.awaitChange(ctx, e.node(), func(stat *zk.Stat) bool {
			ours, czxid = stat.EphemeralOwner == s.ID(), stat.Czxid // the reply to a create was lost
			return !ours
		})
	}
	if ours {
		e.session, e.czxid, e.enough = s, czxid, false
	}
	return err
}

// open opens the barrier. The node that does ends with the session.
func (e *entry) open(ctx context.Context) error {
	_, err := e.client.Create(ctx, e.child(readyName), nil, framework.WithMode(framework.Ephemeral))
	if err == nil {
		e.events.Emit(eventOpened, nil)
	}
	return ignore(err, zk.ErrNodeExists)
}

// ownWatchDelay is how long a member waits before it watches its own node. Only
// an operator deletes that, and most waits are shorter.
const ownWatchDelay = time.Second

// awaitReady waits until the watch of the opening ends. The error is zk.ErrNoNode if the member's node is deleted
// meanwhile.
func (e *entry) awaitReady(ctx context.Context, ready *framework.Watch) error {
	e.Recovered()
	changed, err := changesBefore(ctx, ready, time.After(ownWatchDelay))
	for !changed && err == nil {
		changed, err = e.awaitOwnChange(ctx, ready)
	}
	return err
}

// awaitOwnChange waits for the opening, which it reports, or for a change of the
// member's own node.
func (e *entry) awaitOwnChange(ctx context.Context, ready *framework.Watch) (opened bool, err error) {
	there, _, own, err := e.client.ExistsW(ctx, e.node())
	if err != nil {
		return false, err
	}
	defer own.Stop()
	e.Recovered()
	if !there {
		e.events.At(e.node()).Emit(eventNodeDeleted, nil, event.Session(e.session.ID()))
		return false, zk.ErrNoNode
	}
	return changesBefore(ctx, ready, own.Done())
}

// changesBefore reports whether the watch ends before something else happens.
func changesBefore[T any](ctx context.Context, w *framework.Watch, other <-chan T) (bool, error) {
	select {
	case <-w.Done():
		return true, nil
	case <-other:
		return false, nil
	case <-ctx.Done():
		return false, reason.OfContext(ctx)
	}
}
