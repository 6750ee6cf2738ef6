package framework

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// mayMakeParent reports whether the client may create the missing parent of a
// node: if the call says so, or if it is the chroot, which Curator, too, creates
// when it is first needed.
func (c *Client) mayMakeParent(parent string, cfg *createConfig) bool {
	root := c.full("/")
	return cfg.parents || root != "/" && parent == root
}

// createParents creates the parent of a node, and what is missing above it. It looks
// upwards for the deepest node that exists and creates downwards from there, so that
// it needs no rights on what exists already (CURATOR-715). It adds to the paths that
// are known to exist.
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

// warnOfNewChroot tells the log that the chroot was missing. That is how a new
// chroot begins, but also what a typing error looks like, and then the client's
// locks exclude nobody.
func (c *Client) warnOfNewChroot(path string, err error) {
	if err == nil && path == c.root.chroot {
		c.cfg.logger.Warn("zookeeper chroot did not exist and was created", "chroot", path)
	}
}
