package locks

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// Revoke asks the owner of a lock's node to give the lock up. As a rule, the
// node is the holder's, from Participants. Revoke does not wait, and it forces
// nothing.
//
// These owners hear of it:
//
//   - a Go holder with WithRevocation, or that uses Lease.Revoked;
//   - a Java holder with makeRevocable;
//   - every Go leader: it steps down; see leader.WithGrace.
//
// Revoke overwrites what the node said of its owner. A node that is gone is no
// error. The path is as the view c has it: take the view that the lock was made
// with.
//
// Everybody who may write the node may revoke the lock: by default, everybody.
// See framework.WithACLProvider.
//
// Do not revoke a leader.Latch if candidates in Java stand behind it. The next
// in line there would not hear of its turn: it asks to be told once of a
// change of the node ahead, and the change of data is that change. There would
// be no leader until it reconnects.
//
// A path that is no node of a lock's, such as the lock's own path, is
// zk.ErrInvalidPath, and so is the node of a kazoo process, which knows no revocation:
// the data of the node would be lost, and its owner would not learn of the request.
func Revoke(ctx context.Context, c *framework.Client, nodePath string) error {
	if c == nil {
		return &framework.OpError{Op: "revoke", Path: nodePath, Err: seat.IsNil("client")}
	}
	if err := framework.ValidatePath(nodePath); err != nil {
		return &framework.OpError{Op: "revoke", Path: nodePath, Err: err}
	}
	if name := path.Base(nodePath); !IsContender(name) || isOfKazoo(name) {
		err := fmt.Errorf("%w: must be a node of a lock; Participants has their paths", zk.ErrInvalidPath)
		return &framework.OpError{Op: "revoke", Path: nodePath, Err: err}
	}
	_, err := c.Set(ctx, nodePath, seat.RevocationMarker, framework.AnyVersion)
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// IsContender reports whether a node with this name is a contender of a lock or a leader
// election of this library, of Java Curator, of go-zookeeper's Lock or of Python's kazoo:
// it is queued, holds or leads. A program that keeps data below the path of a lock leaves
// these children out of its listings. The name is the last element of the node's path.
func IsContender(name string) bool {
	return order.IsNode(name, mutexKind, readKind, writeKind, leaseKind, latchKind) || order.IsNode(name, order.KazooKinds...)
}

// isOfKazoo reports whether a kazoo process has created a contender with this name. A
// contender of ours WithKazooNames has Curator's protection in its name.
func isOfKazoo(name string) bool {
	return order.IsNode(name, order.KazooKinds...) && !strings.HasPrefix(name, "_c_")
}

// latchKind is the name of leader.Latch's nodes.
const latchKind = "latch-"
