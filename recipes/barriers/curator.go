package barriers

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// readyName is the name of the node that opens a barrier in Curator's layout.
const readyName = "ready"

// enterCurator waits for the opening in one session, in Curator's layout.
func (e *entry) enterCurator(ctx context.Context, s *framework.Session) error {
	b := e.barrier
	for {
		open, _, ready, err := b.client.ExistsW(ctx, b.child(readyName))
		if err != nil {
			return err
		}
		if open {
			ready.Stop()
			if err := b.client.Sync(ctx, b.path); err != nil { // it may be of a round that is over
				return err
			}
			if open, err = b.isReallyOpen(ctx, e.name); err != nil {
				return err
			}
			if !open {
				continue // the node is gone
			}
		}
		if err := e.create(ctx, s); err != nil {
			ready.Stop()
			return err
		}
		if open {
			return nil
		}
		opened, err := e.awaitReady(ctx, ready)
		if opened || err != nil {
			return err
		}
	}
}

// isReallyOpen reports whether there are members inside, when there was a node
// that opens the barrier. If there are none, a crash has left that node, and it
// is deleted here. Another member may have done that since, and may wait by now:
// it looks like one that is inside, but the node is gone.
func (b *DoubleBarrier) isReallyOpen(ctx context.Context, own string) (bool, error) {
	names, err := b.others(ctx, own)
	if err != nil {
		return false, err
	}
	if len(names) > 0 {
		open, _, err := b.client.Exists(ctx, b.child(readyName))
		return open, err
	}
	return false, b.client.Delete(ctx, b.child(readyName), framework.AnyVersion, framework.WithMissingOK())
}

// others returns the names of all members but one, in order.
func (b *DoubleBarrier) others(ctx context.Context, own string) ([]string, error) {
	names, _, err := b.client.Children(ctx, b.path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == own || name == readyName }), err
}

// awaitReady opens the barrier if enough members are there, or waits for its
// opening. It reports whether the barrier is open. If not, it must be looked at
// again.
func (e *entry) awaitReady(ctx context.Context, ready *framework.Watch) (opened bool, err error) {
	b := e.barrier
	defer ready.Stop()
	others, err := b.others(ctx, e.name)
	if err != nil {
		return false, err
	}
	if len(others)+1 >= b.n {
		_, err := b.client.Create(ctx, b.child(readyName), nil, framework.WithMode(framework.Ephemeral))
		if reason.Is(err, zk.ErrNoNode) {
			return false, errAnew
		}
		return err == nil || reason.Is(err, zk.ErrNodeExists), ignoreExists(err)
	}
	if err := e.awaitChange(ctx, ready); err != nil {
		return false, err
	}
	event, err := ready.Event()
	return err == nil && event.Type == zk.EventNodeCreated, err
}

func ignoreExists(err error) error {
	if reason.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// curatorLeave is a Leave that is under way.
type curatorLeave struct {
	*Passage
	waitFor []string // the others, when we began to leave
	begun   bool
	deleted bool // our node
}

// stay waits for Leave, and then until all have left.
func (l *curatorLeave) stay(ctx context.Context) error {
	select {
	case <-l.leaving.Done():
		return l.follow(ctx, l.leave)
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// leave does what Java's leave does. The first member, by name, waits for the
// last one, and is the last to delete its node. All others delete their nodes
// and wait for the first one. Members that come later are not waited for.
func (l *curatorLeave) leave(ctx context.Context) error {
	b := l.barrier
	for {
		others, err := b.others(ctx, l.name)
		if err != nil {
			return err
		}
		if !l.begun {
			l.begun, l.waitFor = true, others
		}
		there := set(others)
		l.waitFor = slices.DeleteFunc(l.waitFor, func(name string) bool { return !there.has(name) })
		if len(l.waitFor) == 0 {
			break
		}
		watched := l.waitFor[0]
		if l.name < watched && !l.deleted {
			watched = l.waitFor[len(l.waitFor)-1]
		} else if err := l.deleteOwn(ctx); err != nil {
			return err
		}
		if err := l.awaitGone(ctx, watched); err != nil {
			return err
		}
	}
	if err := l.deleteOwn(ctx); err != nil {
		return err
	}
	return l.deleteReady(ctx)
}

// resign leaves without waiting for the others. The last one that does deletes
// the node that has opened the barrier, as the last one that leaves does.
func (l *curatorLeave) resign(ctx context.Context) error {
	return l.follow(ctx, func(ctx context.Context) error {
		if err := l.deleteOwn(ctx); err != nil {
			return err
		}
		l.gone = true
		others, err := l.barrier.others(ctx, l.name)
		if err == nil && len(others) == 0 {
			err = l.deleteReady(ctx)
		}
		return err
	})
}

func (l *curatorLeave) deleteReady(ctx context.Context) error {
	return l.barrier.client.Delete(ctx, l.barrier.child(readyName), framework.AnyVersion, framework.WithMissingOK())
}

func (l *curatorLeave) deleteOwn(ctx context.Context) error {
	if l.deleted {
		return nil
	}
	err := l.barrier.client.Delete(ctx, l.node.Path, framework.AnyVersion, framework.WithMissingOK())
	l.deleted = err == nil
	return err
}

// awaitGone waits until a member has gone.
func (l *curatorLeave) awaitGone(ctx context.Context, name string) error {
	there, _, watch, err := l.barrier.client.ExistsW(ctx, l.barrier.child(name))
	if err != nil {
		return err
	}
	defer watch.Stop()
	l.loop.Recovered()
	if there {
		_, err = watch.Wait(ctx)
	}
	return err
}
