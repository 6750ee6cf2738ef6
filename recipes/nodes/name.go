package nodes

import (
	"context"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// name decides what the node is called. A protected name is the node's for its
// whole life. That way a node that was created without our knowledge is found,
// and a node that must be created again is no second one (CURATOR-190).
func (k *keeper) name() {
	dir, name := path.Split(k.path)
	if k.cfg.unique() {
		name = protectionPrefix() + name
	}
	k.base = znode.Join(path.Clean(dir), name)
	if k.cfg.mode != framework.EphemeralSequential {
		k.node = k.base
	}
}

// protectionPrefix returns Curator's prefix.
func protectionPrefix() string { return "_c_" + znode.GUID() + "-" }

// findNumber looks for a sequential node that may have been created without our
// knowledge.
func (k *keeper) findNumber(ctx context.Context) error {
	if k.node != "" {
		return nil
	}
	dir, prefix := path.Split(k.base)
	parent := path.Clean(dir)
	names, _, err := k.client.Children(ctx, parent)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			k.node = znode.Join(parent, name)
		}
	}
	return nil
}
