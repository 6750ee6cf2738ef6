package nodes

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// remove deletes the node, if it is ours, however long that takes. It returns
// why the node may still be there: the server's refusal, or that the client was
// closed.
func (k *keeper) remove(ctx context.Context) error {
	defer func() {
		if k.last != nil {
			k.last.Stop()
		}
	}()
	if k.cfg.ttl > 0 || !k.owners.Any() {
		return nil
	}
	if !k.cfg.ephemeral() && !k.settledOnce && len(k.unanswered) == 0 {
		return nil // nothing but the path would say that the node is ours
	}
	if err := k.removal.Run(ctx); err == nil || ctx.Err() == nil && !reason.Is(err, framework.ErrClosed) {
		return err
	}
	return framework.ErrClosed
}

// removeOnce deletes the node, if it is ours. ZooKeeper's delete asks for
// nothing but the version. In between, nobody can put another node in the place
// of ours but somebody who deletes ours.
func (k *keeper) removeOnce(ctx context.Context, _ bool) error {
	if err := k.catchUp(ctx); err != nil {
		return err
	}
	if k.node == "" {
		return follow.ErrDone
	}
	stat, err := k.findOurs(ctx)
	switch {
	case k.isHidden(err) && len(k.unanswered) == 0:
		return follow.ErrDone
	case err != nil:
		return err
	case stat == nil:
		return follow.ErrDone
	}
	err = k.client.Delete(ctx, k.node, stat.Version)
	switch {
	case err == nil:
		return follow.ErrDone
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		return nil
	}
	k.doubt = true
	return err
}
