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

// deleteIncarnation deletes exactly the node that was seen, and never its successor at
// the same path.
//
// A server compares the version of a node but not its czxid, and the next node at the
// same path can have the same version. So the transaction that deletes the node also
// fails if any child of the parent was created since the czxid was read. In that case,
// deleteIncarnation reads the node again.
//
// A node with a unique name needs no such condition, which would fail whenever other
// contenders queue at the same time.
//
// One gap remains. Within the round trip between the read and the transaction, the
// parent could be deleted and re-created with as many children as before, among them a
// node of the same name and version.
func deleteIncarnation(ctx context.Context, c *framework.Client, s *view.Sighting) error {
	if hasUniqueName(s) {
		return deleteIf(ctx, c, s)
	}
	parent, _ := znode.Split(s.Path)
	for mismatch := int32(math.MaxInt32); ; { // at this number, the server stops counting
		created, err := childrenCreated(ctx, c, parent)
		switch {
		case err != nil:
			return orGone(s.Path, err)
		case created == mismatch:
			return statusError{refused, fmt.Errorf("%s: the server cannot identify the node: nothing was deleted",
				printable.String(s.Path))}
		}
		if err = deleteIf(ctx, c, s, unlessCreated(parent, created)...); !isMismatch(err) {
			return err
		}
		mismatch = created
	}
}

// deleteIf deletes the node that was seen, if the node exists and the server accepts
// the conditions.
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
		case !errors.Is(err, zk.ErrBadVersion): // otherwise another client has written to the node
			return orGone(s.Path, err)
		}
	}
}

// uniqueName is the form of a node's name that is never used twice: Curator and kazoo
// put a random id into the name, and the server adds a sequence number. The id alone is
// not enough, because kazoo's Semaphore reuses its id.
var uniqueName = regexp.MustCompile(`/(_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-|[0-9a-f]{32})[^/]*[0-9]{10}$`)

// hasUniqueName reports whether no other node will ever have the same path. It returns
// false for a registration: kazoo's Party reuses its random id, and the digits after
// the id may be the user's.
func hasUniqueName(s *view.Sighting) bool {
	return s.Recipe.Kind != inspect.Registrations && uniqueName.MatchString(s.Path)
}

// versionOf returns the version of the node that was seen, if the node exists.
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

// childrenCreated returns how many children a node has ever had, which is the number of
// its next sequential child. Servers show the sum of creations and deletions.
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

// probe is the prefix of a node that no client ever sees.
const probe = "zklock-free-"

// unlessCreated returns operations that fail if a node has had more children in the
// meantime. The operations create a sequential child and delete it by the expected
// number.
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

// orGone turns the error of a missing node into one that says so in words.
func orGone(node string, err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return statusError{refused, fmt.Errorf("%s is gone", printable.String(node))}
	}
	return err
}
