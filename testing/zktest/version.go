package zktest

import (
	"errors"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// WithVersion38 makes the server behave as ZooKeeper 3.8.0 does, as Debian 12 has
// it: patched, so that events ask for permission. Without the option it behaves as
// 3.9.3. A client that must live with both has much to heed about watches. In 3.8:
//
//   - A connection has one mode of watch for a path, in each of the two
//     tables. The mode that is set last replaces the one before, and so a
//     standard watch replaces a persistent one (ZOOKEEPER-4466).
//   - Removing a watch for data, or for children, removes it from that
//     table, whatever its mode (ZOOKEEPER-4471). Only the kind for any watch
//     removes a persistent one as a whole, with all others (ZOOKEEPER-4472).
//   - A recursive watch is in the table for children as well, and silent
//     there.
//   - Events do not tell their zxid.
//
// Besides, exists asks for no permission, and a multi reads the modes of its
// creates in another way. MODEL.md in this folder has all of it.
func WithVersion38() Option {
	return func(c *config) { c.before39 = true }
}

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
