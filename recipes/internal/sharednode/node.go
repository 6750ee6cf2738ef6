// Package sharednode reads, creates and writes a node whose data is a value that all
// processes share, like Curator's SharedValue. Package shared follows such a node. A
// semaphore with a shared limit reads the node when it is acquired.
package sharednode

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Node is a node at a path. It has no state.
type Node struct {
	Client *framework.Client
	Path   string
}

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

// ReadW reads the node, and sets a watch for the next change. If the node does not exist,
// the watch is for the creation.
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

// ReadSeeded reads the node, and sets a watch for the next change if watched is true. If
// the node does not exist, ReadSeeded creates it with the seed as its data, and creates
// missing parents as containers. It accepts the node of another client.
func (n Node) ReadSeeded(
	ctx context.Context, seed []byte, watched bool,
) (s *Snapshot, watch *framework.Watch, err error) {
	vanished := pauses.Vanished()
	for {
		var data []byte
		var stat *zk.Stat
		if watched {
			data, stat, watch, err = n.Client.GetW(ctx, n.Path)
		} else {
			data, stat, err = n.Client.Get(ctx, n.Path)
		}
		if err == nil {
			return Present(data, stat), watch, nil
		}
		if reason.Is(err, zk.ErrNoNode) {
			_, err = n.Client.Create(ctx, n.Path, seed, framework.WithParents())
			if err == nil || reason.Is(err, zk.ErrNodeExists) {
				err = follow.Pause(ctx, n.Client, &vanished)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// Snapshot is the node as of one read or write of this client. It is immutable.
type Snapshot struct {
	Data         []byte
	Exists       bool
	Version      int32
	Czxid, Mzxid int64

	// The snapshot is correct as of some transaction between From and To. If the node
	// exists, both are its mzxid.
	From, To int64
}

// Present returns the snapshot of a node from a server's reply.
func Present(data []byte, stat *zk.Stat) *Snapshot {
	return &Snapshot{
		Data: data, Exists: true,
		Version: stat.Version, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		From: stat.Mzxid, To: stat.Mzxid,
	}
}

// Absent returns the snapshot of a missing node. The server's reply does not include the
// transaction. The transaction lies between the newest that the client knew before the
// request and the newest that the client knew after the reply.
func Absent(asked, answered int64) *Snapshot { return &Snapshot{From: asked, To: answered} }

// IsAfter reports whether s is certainly newer than other. The absence of a node is never
// certain, because the server may lag behind.
func (s *Snapshot) IsAfter(other *Snapshot) bool {
	return other == nil || s.Exists && s.From > other.To
}

// IsBefore reports whether s, a snapshot of an existing node, is certainly older than
// other. If other says that the node was absent as of the same transaction, s is older.
func (s *Snapshot) IsBefore(other *Snapshot) bool {
	return s.Exists && other != nil && (s.Mzxid < other.From || s.Mzxid == other.From && !other.Exists)
}

// Same reports whether two snapshots have the same write, or both have no node.
func (s *Snapshot) Same(other *Snapshot) bool {
	return other != nil && s.Exists == other.Exists && s.Mzxid == other.Mzxid
}
