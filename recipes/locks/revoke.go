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

// Revoke asks the owner of a lock's node to give the lock up. The node is usually the
// holder's, from Participants. Revoke does not wait, and does not force anything.
//
// These owners receive the request:
//
//   - a Go holder with WithRevocation, or a holder that uses Lease.Revoked;
//   - a Java holder with makeRevocable;
//   - every Go leader, which steps down; see leader.WithGrace.
//
// Revoke overwrites what the node says about its owner. If the node is gone, Revoke
// returns nil. The path is relative to the namespace of c: use the view of the client
// that the lock was made with.
//
// Every client that may write the node may revoke the lock. By default that is every
// client. See framework.WithACLProvider.
//
// Do not revoke a leader.Latch if Java candidates are queued behind it. The next Java
// candidate would miss its turn: it watches the node ahead only once, and the change of
// the node's data uses the watch up. There would be no leader until that candidate
// reconnects.
//
// If the path is not a node of a lock, for example the lock's own path, the error matches
// zk.ErrInvalidPath. The node of a kazoo process gives the same error, because kazoo does
// not support revocation: the request would destroy the node's data without reaching the
// owner.
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
// a node that is queued, holds or leads. A program that keeps data below the path of a
// lock should leave these children out of its listings. The name is the last element of
// the node's path.
func IsContender(name string) bool {
	return order.IsNode(name, mutexKind, readKind, writeKind, leaseKind, latchKind) ||
		order.IsNode(name, order.KazooKinds...)
}

// isOfKazoo reports whether a kazoo process has created a contender with this name. A
// contender of this library has Curator's protection in its name, even WithKazooNames.
func isOfKazoo(name string) bool {
	return order.IsNode(name, order.KazooKinds...) && !strings.HasPrefix(name, "_c_")
}

// latchKind is the name of leader.Latch's nodes.
const latchKind = "latch-"
