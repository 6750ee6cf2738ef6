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

// DoubleBarrier lets n members enter together and leave together. It is Curator's
// DistributedDoubleBarrier, and Go and Java processes can be members of the same barrier.
//
// A DoubleBarrier can be used for any number of rounds. All members must use the same n.
//
// A DoubleBarrier has no goroutine and need not be closed. It is safe for concurrent use.
// Each Enter adds a member. Use the node at the path for the barrier alone. The servers
// delete the node as an empty container after the last member.
//
// Members are ephemeral nodes below the path. The member that sees n of them creates the
// node "ready", which opens the barrier. All members need the rights to read the node at
// the path, and to create and delete its children. Each member lists all members when it
// enters and when it leaves. So n members read n times n names.
//
// # Limits
//
// The nodes are Java Curator's, with their limits:
//
//   - More than n members may enter: a member that arrives while others are inside enters
//     at once. At a leader that is behind, as in Barrier.Wait, this may also happen just
//     after the others have left.
//   - A process that crashes while it waits counts until its session ends. A member whose
//     Enter or Leave gives up during an outage counts until the client can delete its
//     node, or until its session ends. While such a node exists and the barrier is open,
//     the next member enters without waiting.
//   - A member is not notified of the loss of another member.
//   - A member that loses its session while the barrier opens misses the opening and waits
//     for the next one. The same happens to a member that stays disconnected until the
//     session that opened the barrier has ended, until a Java member leaves, which closes
//     the barrier for all, or until a server applies a late Leave of the round before.
//     Members inside then wait in Leave until the late member enters or gives up.
//   - Two members that arrive while the last member leaves may each count the other as
//     inside. If only one of the two enters before the last member closes the barrier, the
//     one inside waits for the other in Leave.
//   - The node "ready" remains if the last member gives up its Leave during an outage and
//     loses its session, or while the node of a lost member still exists. The node is
//     deleted when the session of its creator ends, or when the next Go member arrives.
//
// # Java members
//
//   - A Java member whose Enter timed out counts until its session ends.
//   - A Java member that reconnects while it waits may enter without the others: Curator
//     4.1 to 5.9 takes any event for the opening.
//   - A Java member may leave while others are inside, if its server lags behind or if the
//     member reconnects during leave. A Go member waits for exactly the members that had
//     entered when Leave was called. A Java member also waits for members that enter
//     later.
//   - A Java member that crashes inside may leave the node "ready" behind. The next Java
//     member then enters alone. A Go member deletes such a node if there is no other
//     member. A "ready" that a Go member created ends with its session.
type DoubleBarrier struct {
	place
	n int
}

// NewDoubleBarrier returns a barrier for n members, without contacting the server. If the
// client is nil, the path is invalid or n is below 1, every call returns an error.
func NewDoubleBarrier(c *framework.Client, path string, n int) *DoubleBarrier {
	b := &DoubleBarrier{place: newPlace(c, path), n: n}
	if n < 1 {
		b.fault = &framework.ConfigError{Name: "number of members", Value: strconv.Itoa(n), Reason: "must be at least 1"}
	}
	return b
}

// Enter waits until there are n members, and returns the Passage of this member. Leave
// must be called on it. If members are already inside, Enter does not wait.
//
// A process that crashes while it waits counts until its session ends. Enter survives
// outages and lost sessions until ctx ends: this member counts once, and enters with its
// node in the next session.
//
// If ctx ends first, the error matches ErrNotEntered. If Enter fails, the Passage is nil,
// and the client deletes the member's node, in the background if necessary.
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
		if p == nil && e.asked != nil { // Enter has failed, or a hook has panicked
			framework.Extend(b.client).DeleteInBackground(e.node())
			// This member may have opened the barrier.
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

// listing is a member's view of the barrier.
type listing struct {
	others []string // all other members, in order
	open   bool     // the node "ready" exists
	zxid   int64    // the last change below the barrier's node; 0 if that node does not exist
}

// see lists the barrier for the member with the name own.
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

// entry is the state of one Enter. The member's node has the same name in every session.
// So only one such node exists at a time, even if a server applies a create late, and
// Java members count this member once.
type entry struct {
	*call
	n        int
	name     string
	data     []byte
	vanished pauses.Growing
	beaten   pauses.Growing // pauses after other members were first

	asked   *framework.Session // the last session in which a create was sent and may have been applied; nil before
	session *framework.Session // owns the node; nil if there is no node
	czxid   int64              // of the node
	seen    int                // the number of members at the last read
	enough  bool               // there were n members while the session owned the node
}

func (e *entry) node() string { return e.child(e.name) }

// look enters, or waits for a change. If the member's node vanishes meanwhile, the next
// step creates it again.
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
		if !open { // the barrier may open before the next step, so the first pause is zero
			return e.beaten.Wait(ctx)
		}
	}
	if err := e.create(ctx, s); err != nil || e.session != s {
		return err
	}
	switch {
	case open:
		return follow.ErrDone
	case hasOpened(ready): // perhaps before the member's node existed
		return nil
	}
	err = e.meet(ctx, ready)
	if hasOpened(ready) { // even if the requests failed
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

// meet opens the barrier if there are n members, and otherwise waits for the opening.
// Once a member has seen n members, it enters, even if the reply to its opening is lost
// and the others have left meanwhile.
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

// isReallyOpen is called after the node "ready" was found, and reports whether the
// barrier is open for this member. It is open if another member is inside. It is also
// open if another member has been inside since this member's node was created, because the
// Leave of that other member waits for this member. Otherwise a crash has left "ready"
// behind, and isReallyOpen deletes it. Another member may have deleted "ready" already and
// wait now: its node looks like the node of a member inside, although the barrier is closed.
func (e *entry) isReallyOpen(ctx context.Context, s *framework.Session) (bool, error) {
	if e.asked == s { // the member's node may exist although the reply to its create was lost
		if err := e.create(ctx, s); err != nil || e.session != s {
			return false, err
		}
	}
	// A server that lags behind may show a round that is over.
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

// create creates the member's node, unless it exists. A node of an earlier session of
// this member ends with that session. Until then, create waits and does not record the
// new session.
func (e *entry) create(ctx context.Context, s *framework.Session) error {
	if e.session == s {
		return nil
	}
	e.asked = s
	made, err := e.client.Create(ctx, e.node(), e.data, framework.WithParents(), framework.WithMode(framework.Ephemeral))
	ours, czxid := err == nil, made.Czxid
	if reason.Is(err, zk.ErrNodeExists) {
		_, err = e.awaitChange(ctx, e.node(), func(stat *zk.Stat) bool {
			ours, czxid = stat.EphemeralOwner == s.ID(), stat.Czxid // equal if the reply to a create was lost
			return !ours
		})
	}
	if ours {
		e.session, e.czxid, e.enough = s, czxid, false
	}
	return err
}

// open opens the barrier with a node that ends with the session.
func (e *entry) open(ctx context.Context) error {
	_, err := e.client.Create(ctx, e.child(readyName), nil, framework.WithMode(framework.Ephemeral))
	if err == nil {
		e.events.Emit(eventOpened, nil)
	}
	return ignore(err, zk.ErrNodeExists)
}

// ownWatchDelay is how long a member waits before it watches its own node. Only an
// operator would delete that node, and most waits are shorter.
const ownWatchDelay = time.Second

// awaitReady waits until the watch for the opening ends. If the member's node is deleted
// meanwhile, the error is zk.ErrNoNode.
func (e *entry) awaitReady(ctx context.Context, ready *framework.Watch) error {
	e.Recovered()
	changed, err := changesBefore(ctx, ready, time.After(ownWatchDelay))
	for !changed && err == nil {
		changed, err = e.awaitOwnChange(ctx, ready)
	}
	return err
}

// awaitOwnChange waits for the opening, or for a change of the member's own node. It
// returns true after the opening.
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

// changesBefore reports whether the watch ends before other has a value.
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
