package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
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
