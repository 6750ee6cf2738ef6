package framework

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// createAfterParents creates the missing parents, and then the node.
func (n *creation) createAfterParents(ctx context.Context, s *Session) (created *Created, err error) {
	err = zk.ErrNoNode
	for tries := 0; reason.Is(err, zk.ErrNoNode) && tries < maxVanished; tries++ {
		if err = n.client.createParents(ctx, s, n.parent, &n.cfg, map[string]bool{}); err == nil {
			created, err = n.write.request(ctx, s)
		}
	}
	return created, err
}

// mayMakeParents reports whether the client may create a missing parent, or the
// chroot itself is the node to create.
func (n *creation) mayMakeParents() bool {
	root := n.client.full("/")
	return n.client.mayMakeParent(n.parent, &n.cfg) || root != "/" && n.target == root
}

// maxVanished bounds how often another client may delete nodes that a create needs,
// right before the create: the parents, or the node to write. A server that removes
// empty containers can do so once.
const maxVanished = 5

// upsert creates the node or, if the node exists, does what WithOverwrite or
// WithIdempotence ask for. After a lost reply, upsert ignores who has created an
// existing node.
func (n *creation) upsert(ctx context.Context, s *Session) (*Created, error) {
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

// createUnlessRoot does not send a create of "/", which always exists.
func (n *creation) createUnlessRoot(ctx context.Context, s *Session) (*Created, error) {
	if n.target == "/" {
		return nil, zk.ErrNodeExists
	}
	return n.createWithParents(ctx, s)
}

// takeExisting gives an existing node the requested state, or returns zk.ErrNoNode if
// the node no longer exists.
func (n *creation) takeExisting(ctx context.Context, s *Session) (*Created, error) {
	var stat *zk.Stat
	var err error
	if n.cfg.orSet {
		stat, err = send(ctx, s, proto.SetData(n.target, n.data, n.cfg.orVersion), nil)
		err = n.write.noteOutcome(s, err)
	} else {
		stat, err = n.readEqual(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return &Created{Path: n.target, Czxid: stat.Czxid, Version: stat.Version, Session: s}, nil
}

// readEqual returns the node's Stat if the node is as the call would have created it.
// The server that reported the node has applied its creation, so no sync is necessary.
func (n *creation) readEqual(ctx context.Context, s *Session) (*zk.Stat, error) {
	now, err := send(ctx, s, proto.GetData(n.target, false), nil)
	if err == nil && (now.Stat.Version != 0 || !bytes.Equal(now.Data, n.data)) {
		err = zk.ErrNodeExists
	}
	return now.Stat, err
}

// mayMakeParent reports whether the client may create the missing parent of a node: if
// the call has asked for parents, or if the parent is the chroot, which Curator, too,
// creates on demand.
func (c *Client) mayMakeParent(parent string, cfg *createConfig) bool {
	root := c.full("/")
	return cfg.parents || root != "/" && parent == root
}

// createParents creates the parent of a node, and missing nodes above. It searches
// upwards for the deepest existing node and creates downwards from there, so it needs
// no rights on existing nodes (CURATOR-715). It adds the paths to the known existing
// paths.
func (c *Client) createParents(
	ctx context.Context, s *Session, parent string, cfg *createConfig, known map[string]bool,
) error {
	mode := Container
	if cfg.parents {
		mode = cfg.parentMode
	}
	if c.cfg.noContainers {
		mode = Persistent
	}
	var missing []string
	for path := parent; path != "/" && !known[path]; path, _ = znode.Split(path) {
		stat, err := send(ctx, s, proto.Exists(path, false), nil)
		if err != nil {
			return err
		}
		if stat != nil {
			known[path] = true
			break
		}
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		acl, err := c.aclFor(path, cfg.parentACL.list)
		if err == nil {
			_, err = send(ctx, s, proto.Create(newNode(path, nil, acl, &createConfig{mode: mode})), nil)
		}
		if err != nil && !reason.Is(err, zk.ErrNodeExists) {
			return err
		}
		known[path] = true
		c.warnOfNewChroot(path, err)
	}
	return nil
}

// warnOfNewChroot logs that the chroot was missing. That is normal for a new chroot,
// but it may also be a typing error, and then the client's locks exclude no other
// client.
func (c *Client) warnOfNewChroot(path string, err error) {
	if err == nil && path == c.root.chroot {
		c.log(slog.LevelWarn, "zookeeper chroot did not exist and was created", slog.String("chroot", path))
	}
}
