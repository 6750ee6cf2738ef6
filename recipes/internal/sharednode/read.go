package sharednode

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Read reads the node. It costs one request.
func (n Node) Read(ctx context.Context) (*Snapshot, error) {
	asked := n.Client.LastZxid()
	data, stat, err := n.Client.Get(ctx, n.Path)
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return Absent(asked, n.Client.LastZxid()), nil
	case err != nil:
		return nil, err
	}
	return Present(data, stat), nil
}

// ReadNewest reads the node after the server has caught up.
func (n Node) ReadNewest(ctx context.Context) (*Snapshot, error) {
	if err := n.Client.Sync(ctx, n.Path); err != nil {
		return nil, err
	}
	return n.Read(ctx)
}

// ReadW reads the node, and sets a watch for its next change. If it does not
// exist, the watch is for its creation.
func (n Node) ReadW(ctx context.Context) (*Snapshot, *framework.Watch, error) {
	vanished := pauses.Vanished()
	for {
		data, stat, watch, err := n.Client.GetW(ctx, n.Path)
		if err == nil {
			return Present(data, stat), watch, nil
		}
		if !reason.Is(err, zk.ErrNoNode) {
			return nil, nil, err
		}
		asked := n.Client.LastZxid()
		there, _, watch, err := n.Client.ExistsW(ctx, n.Path)
		if err != nil {
			return nil, nil, err
		}
		if !there {
			return Absent(asked, n.Client.LastZxid()), watch, nil
		}
		watch.Stop()
		if err := follow.Pause(ctx, n.Client, &vanished); err != nil {
			return nil, nil, err
		}
	}
}

// ReadSeeded reads the node, with a watch for its next change if that is asked
// for. If the node does not exist, it is created with the seed, and missing
// parents as containers. It is no error if somebody else does.
func (n Node) ReadSeeded(ctx context.Context, seed []byte, watched bool) (*Snapshot, *framework.Watch, error) {
	vanished, created := pauses.Vanished(), false
	for {
		s, watch, err := n.readPresent(ctx, watched)
		if !reason.Is(err, zk.ErrNoNode) {
			return s, watch, err
		}
		if created {
			if err := follow.Pause(ctx, n.Client, &vanished); err != nil {
				return nil, nil, err
			}
		}
		created = true
		_, err = n.Client.Create(ctx, n.Path, seed, framework.WithParents())
		if err != nil && !reason.Is(err, zk.ErrNodeExists) {
			return nil, nil, err
		}
	}
}

// readPresent reads a node that exists.
func (n Node) readPresent(ctx context.Context, watched bool) (*Snapshot, *framework.Watch, error) {
	var data []byte
	var stat *zk.Stat
	var watch *framework.Watch
	var err error
	if watched {
		data, stat, watch, err = n.Client.GetW(ctx, n.Path)
	} else {
		data, stat, err = n.Client.Get(ctx, n.Path)
	}
	if err != nil {
		return nil, nil, err
	}
	return Present(data, stat), watch, nil
}
