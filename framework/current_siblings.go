package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
)

// CurrentSiblings is Siblings at a server that has caught up with its leader, as
// by Sync and with the exceptions of Sync. With WithStrictContact there are no
// exceptions: it is SyncQuorum that precedes the list, here, in CurrentSiblingsW and
// in IsCurrent. It also returns the parent's Stat, which counts all children. Both
// requests go out at once, so that they take one round trip.
func (e Extension) CurrentSiblings(ctx context.Context, parent string) (names []string, stat *zk.Stat, err error) {
	full := e.full(parent)
	err = e.do(ctx, "children", parent, nil, func(ctx context.Context, s *Session) error {
		gone := e.givenUp.under(full)
		found, err := e.syncAndList(ctx, s, full)
		names, stat = gone.cutFrom(found.Names), (*zk.Stat)(found.Stat)
		return err
	})
	return names, stat, err
}

func (e Extension) syncAndList(ctx context.Context, s *Session, parent string) (proto.ChildrenAnswer, error) {
	list := proto.Children(parent, false)
	if e.cfg.strictContact {
		return afterQuorum(ctx, s, list)
	}
	syncing, listing, err := startBoth(ctx, s, proto.Sync(parent), list)
	if err != nil {
		return proto.ChildrenAnswer{}, err
	}
	if _, err := syncing.await(ctx, nil); err != nil {
		return proto.ChildrenAnswer{}, err
	}
	if listing.call == nil { // there was no room for it on the connection
		return send(ctx, s, list, nil)
	}
	return listing.await(ctx, nil)
}

// CurrentSiblingsW is CurrentSiblings with a watch for IsCurrent. The request ends
// with ctx. The watch does not: the caller has to stop it.
func (e Extension) CurrentSiblingsW(ctx context.Context, parent string) (names []string, stat *zk.Stat, w *Watch, err error) {
	full := e.full(parent)
	complete := false
	defer func() {
		if !complete && w != nil { // a hook has panicked
			w.Stop()
		}
	}()
	err = e.do(ctx, "children", parent, nil, func(ctx context.Context, s *Session) error {
		gone := e.givenUp.under(full)
		found, shared, err := e.syncAndWatch(ctx, s, full)
		if err != nil {
			return err
		}
		w = &Watch{shared: shared, session: s, view: e.Client}
		names, stat = gone.cutFrom(found.Names), (*zk.Stat)(found.Stat)
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	complete = true
	return names, stat, w, nil
}

// syncAndWatch lists behind a sync, which the connection has taken by then. If the
// connections of the two are not the same, the second knows of all that the first
// has told, like every later connection of a client.
func (e Extension) syncAndWatch(ctx context.Context, s *Session, parent string) (found proto.ChildrenAnswer, w *watches.Watch, err error) {
	await := func() error { return nil }
	if e.cfg.strictContact {
		err = passQuorum(ctx, s)
	} else {
		var syncing pending[string]
		syncing, err = start(ctx, s, proto.Sync(parent), nil)
		await = func() error {
			_, err := syncing.await(ctx, nil)
			return err
		}
	}
	if err != nil {
		return found, nil, err
	}
	key := watches.ReadKey{Op: "children", Watch: transport.Watch{Path: parent, Table: transport.Children}}
	found, shared, err := readTogether(ctx, s, key, proto.Children)
	if err != nil {
		return found, nil, err
	}
	defer func() {
		if w == nil { // the sync has failed, or the caller's context has panicked
			shared.Leave()
		}
	}()
	if err := await(); err != nil {
		return found, nil, err
	}
	return found, shared, nil
}

// IsCurrent reports whether the names that came with a watch of CurrentSiblingsW
// are what CurrentSiblings would return. That takes a sync, and no listing: the
// events of all changes before come ahead of its answer. It reports false if it is
// not sure, as behind a reconnect. It has the exceptions of Sync, and another one:
// servers do not tell a client of a change that must not read the parent by then.
func (e Extension) IsCurrent(ctx context.Context, w *Watch) (bool, error) {
	if w == nil {
		return false, &OpError{"sync", "", isNil("watch")}
	}
	full := w.shared.Path()
	if !w.shared.IsSteady() || len(e.givenUp.under(full)) > 0 { // CurrentSiblings would leave some out
		return false, nil
	}
	asked := false
	err := e.do(ctx, "sync", e.local(full), nil, func(ctx context.Context, s *Session) error {
		if s != w.session {
			return nil // the watch is over
		}
		var err error
		if e.cfg.strictContact {
			err = passQuorum(ctx, s)
		} else {
			_, err = send(ctx, s, proto.Sync(full), nil)
		}
		asked = err == nil
		return err
	})
	return asked && w.shared.IsSteady(), err
}
