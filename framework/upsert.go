package framework

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// upsert makes the node, or does with one that exists what WithOverwrite and
// WithIdempotence say. After a lost reply it begins again: it judges the node
// that it finds then as if somebody else had made it.
func (n *creation) upsert(ctx context.Context, s *Session) (Created, error) {
	for tries := 0; ; tries++ {
		created, err := n.createUnlessRoot(ctx, s)
		if !reason.Is(err, zk.ErrNodeExists) {
			return created, err
		}
		stat, err := n.update(ctx, s)
		switch {
		case reason.Is(err, zk.ErrNoNode) && tries < maxVanished:
			continue
		case err != nil:
			return Created{}, err
		}
		return Created{Path: n.target, Czxid: stat.Czxid, Session: s}, nil
	}
}

// createUnlessRoot does not ask the server for "/", which always exists.
func (n *creation) createUnlessRoot(ctx context.Context, s *Session) (Created, error) {
	if n.target == "/" {
		return Created{}, zk.ErrNodeExists
	}
	return n.createWithParents(ctx, s)
}

// update makes a node that exists as it was asked for, or returns zk.ErrNoNode
// if it does not exist any more.
func (n *creation) update(ctx context.Context, s *Session) (*zk.Stat, error) {
	mayBeDone := n.cfg.idempotent || n.write.doubt != nil && n.cfg.orVersion != AnyVersion
	if mayBeDone {
		// The server that reported the node has seen it made, so there is no
		// need for a sync.
		now, err := send(ctx, s, proto.GetData(n.target, false), nil)
		switch {
		case err != nil:
			return nil, err
		case now.Stat.Version == 0 && bytes.Equal(now.Data, n.data):
			return (*zk.Stat)(now.Stat), nil
		}
	}
	if !n.cfg.orSet {
		return nil, zk.ErrNodeExists
	}
	return n.set.try(ctx, s)
}
