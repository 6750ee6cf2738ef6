package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/inspect"
)

// deleteIncarnation deletes the very node that was seen, and never one that was
// created in its place.
//
// A server compares the version of a node, and not its czxid. The next node at
// the same path begins with the same version, and can get any other one. So the
// transaction that deletes the node is refused if any child of the parent was
// created since its czxid was read. In that case deleteIncarnation looks again.
//
// A name that is unique needs no such condition. Others may queue up beside it
// all the time.
//
// What remains: between the look and the transaction, which is a round trip, the
// parent is deleted as well and created anew, and gets as many children as it
// had had before, among them this one, with the old version.
func deleteIncarnation(ctx context.Context, c *framework.Client, s *view.Sighting) error {
	if hasUniqueName(s) {
		return deleteIf(ctx, c, s)
	}
	parent, _ := znode.Split(s.Path)
	for mismatch := int32(math.MaxInt32); ; { // there, the server counts no further
		created, err := childrenCreated(ctx, c, parent)
		switch {
		case err != nil:
			return orGone(s.Path, err)
		case created == mismatch:
			return statusError{refused, fmt.Errorf("%s: the server does not tell it from another one: nothing was deleted",
				printable.String(s.Path))}
		}
		if err = deleteIf(ctx, c, s, unlessCreated(parent, created)...); !isMismatch(err) {
			return err
		}
		mismatch = created
	}
}

// deleteIf deletes the node that was seen, if it is there and the operations
// that follow are not refused.
func deleteIf(ctx context.Context, c *framework.Client, s *view.Sighting, conditions ...framework.TxnOp) error {
	for {
		version, err := versionOf(ctx, c, s)
		if err != nil {
			return err
		}
		ops := append([]framework.TxnOp{framework.DeleteOp(s.Path, version)}, conditions...)
		_, err = c.Transaction(ctx, ops...)
		switch {
		case isMismatch(err):
			return err
		case errors.Is(err, zk.ErrNotEmpty):
			return statusError{refused, fmt.Errorf("%s has children: nothing was deleted", printable.String(s.Path))}
		case !errors.Is(err, zk.ErrBadVersion): // or else somebody has written to it
			return orGone(s.Path, err)
		}
	}
}

// uniqueName is the name of a node that nobody creates a second time: Curator
// and kazoo put a random id into it, and the server a sequence number. The id
// alone is not enough: kazoo's Semaphore uses it again.
var uniqueName = regexp.MustCompile(`/(_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-|[0-9a-f]{32})[^/]*[0-9]{10}$`)

// hasUniqueName reports whether a node is the only one that will ever have its
// path. A registration is not: kazoo's Party uses its random id again, and the
// digits behind it may be the user's.
func hasUniqueName(s *view.Sighting) bool {
	return s.Recipe.Kind != inspect.Registrations && uniqueName.MatchString(s.Path)
}

// versionOf returns the version of the node that was seen, if it is there.
func versionOf(ctx context.Context, c *framework.Client, s *view.Sighting) (int32, error) {
	exists, stat, err := c.Exists(ctx, s.Path)
	switch {
	case err != nil:
		return 0, err
	case !exists:
		return 0, orGone(s.Path, zk.ErrNoNode)
	case stat.Czxid != s.Czxid:
		return 0, otherIncarnation(s.Path, stat.Czxid)
	}
	return stat.Version, nil
}

// childrenCreated returns how many children a node has ever had, which is the
// number of its next sequential child. Servers count creations, and show the
// sum of those and of the deletions.
func childrenCreated(ctx context.Context, c *framework.Client, node string) (int32, error) {
	exists, stat, err := c.Exists(ctx, node)
	if err == nil && !exists {
		err = zk.ErrNoNode
	}
	if err != nil {
		return 0, err
	}
	return int32(uint32(stat.Cversion+stat.NumChildren) / 2), nil
}

// probe is what the name of a node begins with that nobody ever sees.
const probe = "zklock-free-"

// unlessCreated returns operations that are refused if a node has had more
// children by then: they create one with a number, and delete it by the number
// that it has if it is the next.
func unlessCreated(node string, created int32) []framework.TxnOp {
	path := znode.Join(node, probe)
	return []framework.TxnOp{
		framework.CreateOp(path, nil, framework.WithMode(framework.PersistentSequential)),
		framework.DeleteOp(fmt.Sprintf("%s%010d", path, created), framework.AnyVersion),
	}
}

// isMismatch reports whether a transaction was refused by unlessCreated.
func isMismatch(err error) bool {
	var failed *framework.TxnError
	return errors.As(err, &failed) && failed.Index == 2 && errors.Is(failed.Err, zk.ErrNoNode)
}

// orGone says of a node that does not exist that it is gone.
func orGone(node string, err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return statusError{refused, fmt.Errorf("%s is gone", printable.String(node))}
	}
	return err
}
