package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// revocationMarker is what Curator's Revoker writes into the node of a holder (LockInternals.REVOKE_MESSAGE).
var revocationMarker = []byte("__REVOKE__")

// Revoke asks the owner of a lock's node, as a rule that of the holder from Participants, to give the lock up. It does
// not wait, and it forces nothing: the owner is told if it looks out for that, as a Go holder does with Revocable or
// Lease.Revoked, a Java holder with makeRevocable, and every Go leader, which steps down; see WithGrace. What the node
// said of its owner is overwritten. A node that is gone is no error. The path is as the view c has it: take the view that
// the lock was made with.
//
// Everybody who may write the node may revoke the lock: by default, everybody.
// See framework.WithACLProvider.
//
// Do not revoke a LeaderLatch if candidates in Java stand behind it. The next in line there would not hear of its turn: it
// asks to be told once of a change of the node ahead, and the change of data is that change. Nobody would lead until it
// reconnects.
//
// A path that is no node of a lock's, such as the lock's own path, is zk.ErrBadArguments: the data of another node would
// be lost, and nobody told.
func Revoke(ctx context.Context, c *framework.Client, nodePath string) error {
	if c == nil {
		return &framework.OpError{Op: "revoke", Path: nodePath, Err: isNil("client")}
	}
	if framework.ValidatePath(nodePath) == nil && !isLockNode(nodePath) {
		err := fmt.Errorf("%w: no node of a lock; Participants has their paths", zk.ErrBadArguments)
		return &framework.OpError{Op: "revoke", Path: nodePath, Err: err}
	}
	_, err := c.Set(ctx, nodePath, revocationMarker, framework.AnyVersion)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// isLockNode reports whether a node has the name of a contender for any lock or leadership of this package.
func isLockNode(nodePath string) bool {
	return lockloop.IsNode(path.Base(nodePath), mutexKind, readKind, writeKind, leaseKind, latchKind)
}
