package nodes

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// remove deletes the node, if it is ours, however long that takes. It returns
// why the node may still be there: the server's refusal, or that the client was
// closed. If the client was closed, the end of its session deletes an ephemeral
// node.
func (k *keeper) remove(ctx context.Context) error {
	if k.cfg.kept || len(k.owners.ids) == 0 {
		return nil
	}
	if !k.cfg.ephemeral() && !k.settledOnce && len(k.unanswered) == 0 {
		return nil // nothing but the path would say that the node is ours
	}
	k.resetPauses()
	for ctx.Err() == nil {
		err := k.client.InSession(ctx, func(ctx context.Context) error { return once(ctx, k.removeInSession) })
		switch {
		case err == nil:
			return nil
		case isCurable(err), reason.Is(err, zk.ErrAuthFailed):
			k.outlastRemoval(ctx, err)
		case !reason.Is(err, framework.ErrClosed):
			return err
		}
	}
	if k.cfg.ephemeral() {
		return nil
	}
	return framework.ErrClosed
}

// outlastRemoval waits until it is time to try again.
func (k *keeper) outlastRemoval(ctx context.Context, err error) {
	switch {
	case reason.Is(err, zk.ErrAuthFailed):
		k.trying.Wait(ctx)
	case reason.Is(err, framework.ErrSessionLost), reason.Is(err, framework.ErrNotConnected):
	case framework.IsConnectionError(err):
		k.outages.Wait(ctx)
	default:
		k.trying.Wait(ctx)
	}
}

// removeInSession deletes the node, if it is ours. ZooKeeper's delete asks for
// nothing but the version. In between, nobody can put another node in the place
// of ours but somebody who deletes ours.
func (k *keeper) removeInSession(ctx context.Context) error {
	s, err := k.client.Session(ctx)
	if err != nil {
		return err
	}
	k.session = s
	for {
		if err := k.catchUp(ctx); err != nil || k.node == "" {
			return err
		}
		stat, err := k.findOurs(ctx)
		if k.isHidden(err) && len(k.unanswered) == 0 {
			return nil
		}
		if err != nil || stat == nil {
			return err
		}
		err = k.client.Delete(ctx, k.node, stat.Version)
		switch {
		case err == nil:
			return nil
		case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrBadVersion):
		default:
			k.doubt = true
			return err
		}
	}
}
