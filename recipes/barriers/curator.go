package barriers

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// readyName is the name of the node that opens a barrier in Curator's layout.
const readyName = "ready"

// curatorLayout is the layout of Java Curator: the members and the node "ready".
type curatorLayout struct{ *DoubleBarrier }

func (curatorLayout) newName(time.Time) string { return strings.ToLower(rand.Text()) }

func (l curatorLayout) inside(p *Passage) inside { return &curatorLeave{Passage: p, layout: l} }

func (l curatorLayout) look(ctx context.Context) (present, error) {
	names, err := l.list(ctx)
	open := slices.Contains(names, readyName)
	all := l.members(names, "")
	return present{names: all, waiting: all, inside: func(string) bool { return open }}, err
}

// others returns all members but one, in order.
func (l curatorLayout) others(ctx context.Context, own string) ([]string, error) {
	names, err := l.list(ctx)
	return l.members(names, own), err
}

// members returns the members but one, in order. One that has two nodes is one
// member: the request for the older node was carried out late, when the member had
// another session. Members of Java's have one node each.
func (curatorLayout) members(names []string, own string) []string {
	entry, _ := splitAttempt(own)
	return those(newest(but(names, readyName)), func(name string) bool {
		of, _ := splitAttempt(name)
		return of != entry
	})
}

func (l curatorLayout) enter(ctx context.Context, e *entry, s *framework.Session) error {
	open, _, ready, err := l.client.ExistsW(ctx, l.child(readyName))
	if err != nil {
		return err
	}
	defer ready.Stop()
	if open {
		ready.Stop()
		if open, err = l.isReallyOpen(ctx, e.name); !open || err != nil {
			return e.giveWay(ctx, err)
		}
	}
	if err := e.create(ctx, s); err != nil {
		return err
	}
	if open {
		return follow.ErrDone
	}
	return l.awaitReady(ctx, e, ready)
}

// isReallyOpen reports whether there are members inside, when there was a node
// that opens the barrier. If there are none, a crash has left that node, and it
// is deleted here. Another member may have done that since, and may wait by now:
// it looks like one that is inside, but the node is gone.
func (l curatorLayout) isReallyOpen(ctx context.Context, own string) (bool, error) {
	if err := l.client.Sync(ctx, l.path); err != nil { // it may be of a round that is over
		return false, err
	}
	names, err := l.others(ctx, own)
	if err != nil {
		return false, err
	}
	if len(names) > 0 {
		open, _, err := l.client.Exists(ctx, l.child(readyName))
		return open, err
	}
	return false, l.deleteReady(ctx)
}

func (l curatorLayout) deleteReady(ctx context.Context) error {
	return l.client.Delete(ctx, l.child(readyName), framework.AnyVersion, framework.WithMissingOK())
}

// awaitReady opens the barrier if enough members are there, or waits for its
// opening. If it does not see that, the barrier must be looked at again.
func (l curatorLayout) awaitReady(ctx context.Context, e *entry, ready *framework.Watch) error {
	others, err := l.others(ctx, e.name)
	if err != nil {
		return err
	}
	if len(others)+1 >= l.n {
		_, err := l.create(ctx, e.node.Session, l.child(readyName), nil)
		return done(ignore(err, zk.ErrNodeExists))
	}
	if err := e.awaitChange(ctx, ready); err != nil {
		return err
	}
	event, err := ready.Event()
	if err == nil && event.Type == zk.EventNodeCreated {
		return follow.ErrDone
	}
	return err
}

// curatorLeave is a Leave that is under way.
type curatorLeave struct {
	*Passage
	layout  curatorLayout
	waitFor []string // the others, when we began to leave
	begun   bool
	deleted bool // our node
}

// stay waits for Leave, and then until all have left.
func (l *curatorLeave) stay(ctx context.Context) error {
	select {
	case <-l.life.Stopped().Done():
		return l.follow(ctx, l.leaveInOrder)
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// leaveInOrder does what Java's leave does. The first member, by name, waits for
// the last one, and is the last to delete its node. All others delete their
// nodes and wait for the first one. Members that come later are not waited for.
func (l *curatorLeave) leaveInOrder(ctx context.Context) error {
	others, err := l.listOthers(ctx)
	if err != nil {
		return err
	}
	if !l.begun {
		l.begun, l.waitFor = true, others
	}
	l.waitFor = those(l.waitFor, set(others).has)
	left := len(l.waitFor)
	if left > 0 && l.name < l.waitFor[0] && !l.deleted {
		return l.awaitGone(ctx, l.waitFor[left-1])
	}
	if err := l.deleteOwn(ctx); err != nil {
		return err
	}
	if left > 0 {
		return l.awaitGone(ctx, l.waitFor[0])
	}
	return done(l.layout.deleteReady(ctx))
}

// listOthers returns the others that are there. The first time, which decides who
// is waited for, the server catches up before: all are seen who had entered when
// Leave was called. Later, it is enough to see that those have gone.
func (l *curatorLeave) listOthers(ctx context.Context) ([]string, error) {
	if l.begun {
		return l.layout.others(ctx, l.name)
	}
	names, _, err := insider.Of(l.layout.client).CurrentSiblings(ctx, l.layout.path)
	return l.layout.members(names, l.name), ignore(err, zk.ErrNoNode)
}

// resign leaves without waiting for the others.
func (l *curatorLeave) resign(ctx context.Context) error { return l.follow(ctx, l.deleteAndGo) }

// deleteAndGo deletes the member's node. The last member that does deletes the
// node that has opened the barrier, as the last one that leaves does.
func (l *curatorLeave) deleteAndGo(ctx context.Context) error {
	if err := l.deleteOwn(ctx); err != nil {
		return err
	}
	l.gone = true
	others, err := l.layout.others(ctx, l.name)
	if err == nil && len(others) == 0 {
		err = l.layout.deleteReady(ctx)
	}
	return done(err)
}

func (l *curatorLeave) deleteOwn(ctx context.Context) error {
	if l.deleted {
		return nil
	}
	err := l.layout.client.Delete(ctx, l.node.Path, framework.AnyVersion, framework.WithMissingOK())
	l.deleted = err == nil
	return err
}
