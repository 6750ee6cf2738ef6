package nodes

import (
	"slices"

	"github.com/go-zookeeper/zk"
)

// versions are the versions of other clients' nodes at the path when they were last
// seen. An owner may have looked at its node, and be about to delete it. ZooKeeper's
// delete compares nothing but the version, so that our nodes must never have one of
// these, however often they are created again.
type versions []versionOf

type versionOf struct {
	czxid   int64
	version int32
}

// maxVersions bounds how many nodes are remembered, and with them how many operations
// create a node.
const maxVersions = 8

// note notes the version of another client's node.
func (v *versions) note(stat *zk.Stat) {
	*v = slices.DeleteFunc(*v, func(o versionOf) bool { return o.czxid == stat.Czxid })
	*v = append(*v, versionOf{stat.Czxid, stat.Version})
	*v = (*v)[max(0, len(*v)-maxVersions):]
}

// noVersion is the version of no node.
const noVersion int32 = -1

// free returns the first version from a given one on that is not one of these, nor the
// version of our own former node, which a late request of ours may delete.
func (v versions) free(from, former int32) int32 {
	for from == former || slices.ContainsFunc(v, func(o versionOf) bool { return o.version == from }) {
		from++
	}
	return from
}
