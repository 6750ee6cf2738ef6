package zktest

import (
	"errors"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// WithClickHouseKeeper makes the server answer as ClickHouse Keeper does, where
// that differs from ZooKeeper in a way that matters to clients:
//
//   - A part of a multiRead that has failed keeps the type of its operation. The
//     error code is in the part's header, and no body follows.
//   - A deletion leaves the Pzxid of the parent unchanged.
//   - Containers and nodes with a TTL are unknown: the connection ends without an
//     answer.
//   - The events of a recursive watch carry the path of the watch instead of the
//     path of the node.
//   - A client that asks for a session that is over gets a new one, and is not
//     told.
func WithClickHouseKeeper() Option {
	return func(c *config) { c.keeper = true }
}

var errNotInKeeper = errors.New("ClickHouse Keeper does not know this request")

// isUnknownToKeeper reports whether ClickHouse Keeper ends the connection for a
// request.
func isUnknownToKeeper(kind wire.Op) bool {
	return kind == wire.OpCreateContainer || kind == wire.OpCreateTTL
}

// keeperPathLocked returns the path of the event that a connection gets: of the
// recursive watch that covers the node, if the connection has one.
func (r *replica) keeperPathLocked(c *conn, node string) string {
	for path := node; ; path = datatree.ParentOf(path) {
		switch {
		case r.watches.Has(c, datatree.DataWatch(path), datatree.WatchRecursive):
			return path
		case path == "/":
			return node
		}
	}
}
