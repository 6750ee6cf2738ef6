// Package sharednode reads, creates and writes a node whose data is a value
// that all processes share, in the way of Curator's SharedValue. Package shared
// follows such a node. A semaphore with a shared limit reads one when it is
// acquired.
package sharednode

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Node is a node with this path. It has no state.
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

	// From and To say as of which transaction this was so. They are the mzxid
	// if there is a node.
	From, To int64
}

// Present is a node as an answer of the server has it.
func Present(data []byte, stat *zk.Stat) *Snapshot {
	return &Snapshot{
		Data: data, Exists: true,
		Version: stat.Version, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		From: stat.Mzxid, To: stat.Mzxid,
	}
}

// Absent is no node. The server does not say as of which transaction. That is
// between the newest that the client knew of when it asked, and the newest that
// it knew of when it had the answer.
func Absent(asked, answered int64) *Snapshot { return &Snapshot{From: asked, To: answered} }

// IsAfter reports whether s is certainly newer. That there is no node is never
// certain: the server may lag behind.
func (s *Snapshot) IsAfter(other *Snapshot) bool {
	return other == nil || s.Exists && s.From > other.To
}

// IsBefore reports whether s, which exists, is certainly older. A node that was
// there at a transaction, and not at the same one, was written before.
func (s *Snapshot) IsBefore(other *Snapshot) bool {
	return s.Exists && other != nil && (s.Mzxid < other.From || s.Mzxid == other.From && !other.Exists)
}

// Same reports whether two snapshots are of the same write, or both of no node.
func (s *Snapshot) Same(other *Snapshot) bool {
	return other != nil && s.Exists == other.Exists && s.Mzxid == other.Mzxid
}
