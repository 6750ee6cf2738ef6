package framework

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// upsert makes the node, or does with one that exists what WithOverwrite and
// WithIdempotence say. An attempt that follows a lost reply does not ask who has
// made the node that it finds.
func (n *creation) upsert(ctx context.Context, s *Session) (Created, error) {
	for tries := 0; ; tries++ {
		created, err := n.createUnlessRoot(ctx, s)
		if !reason.Is(err, zk.ErrNodeExists) {
			return created, err
		}
		created, err = n.takeExisting(ctx, s)
		if !reason.Is(err, zk.ErrNoNode) || tries == maxVanished {
			return created, err
		}
	}
}

// createUnlessRoot does not ask the server for "/", which always exists.
func (n *creation) createUnlessRoot(ctx context.Context, s *Session) (Created, error) {
	if n.target == "/" {
		return Created{}, zk.ErrNodeExists
	}
	return n.createWithParents(ctx, s)
}

// takeExisting makes a node that exists as it was asked for, or returns
// zk.ErrNoNode if it does not exist any more.
func (n *creation) takeExisting(ctx context.Context, s *Session) (Created, error) {
	var stat *proto.Stat
	var err error
	if n.cfg.orSet {
		stat, err = send(ctx, s, proto.SetData(n.target, n.data, n.cfg.orVersion), nil)
		err = n.write.noteOutcome(s, err)
	} else {
		stat, err = n.readEqual(ctx, s)
	}
	if err != nil {
		return Created{}, err
	}
	return Created{Path: n.target, Czxid: stat.Czxid, Version: stat.Version, Session: s}, nil
}

// readEqual returns the node's Stat if the node is as the call would have made it.
// The server that reported the node has seen it made, so there is no need for a
// sync.
func (n *creation) readEqual(ctx context.Context, s *Session) (*proto.Stat, error) {
	now, err := send(ctx, s, proto.GetData(n.target, false), nil)
	if err == nil && (now.Stat.Version != 0 || !bytes.Equal(now.Data, n.data)) {
		err = zk.ErrNodeExists
	}
	return now.Stat, err
}
