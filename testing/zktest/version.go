package zktest

import (
	"errors"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
