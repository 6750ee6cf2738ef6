package nodes

import (
	"slices"

	"github.com/go-zookeeper/zk"
)

// versions are the versions that a late request may compare, and that our nodes must
// therefore never have, however often they are created again. ZooKeeper's delete and
// write compare nothing else. There are two kinds:
//
//   - The last version that was seen of another client's node. Its owner may have looked
//     at it, and be about to delete it.
//   - The version in a request of ours whose reply was lost. A server may carry it out
//     as long as the servers keep the session in which it was sent.
type versions []versionOf

type versionOf struct {
	czxid   int64
	version int32
}

// maxVersions bounds how many nodes are remembered, and with them how many operations
// create a node.
const maxVersions = 8

// note notes the version of a node, in place of an earlier version.
func (v *versions) note(stat *zk.Stat) {
	*v = slices.DeleteFunc(*v, func(o versionOf) bool { return o.czxid == stat.Czxid })
	*v = append(*v, versionOf{stat.Czxid, stat.Version})
	*v = (*v)[max(0, len(*v)-maxVersions):]
}

// free returns the first version from a given one on that is not one of these, nor the
// version of a node that is to be deleted in the same transaction, unless it is nil.
func (v versions) free(from int32, deleted *zk.Stat) int32 {
	isTaken := func(o versionOf) bool { return o.version == from }
	for deleted != nil && deleted.Version == from || slices.ContainsFunc(v, isTaken) {
		from++
	}
	return from
}
