package framework

import "github.com/go-zookeeper/zk"

// Mode is the kind of node to create. The values are ZooKeeper's.
type Mode int32

// The modes of ZooKeeper 3.5 and later:
//
//   - An ephemeral node ends with its session.
//   - A sequential node gets a number of ten digits appended to its name, which
//     grows with each child of the parent. The name before it must not be
//     empty, though the server would allow that.
//   - The server deletes a container some time after its last child is gone.
//   - The server deletes a TTL node when it has no children and was not changed
//     for its time to live, if the server is configured for that.
//
// The Stat of a node does not tell its mode. EphemeralOwner is the session of an
// ephemeral node. It is 0 for every other node, also for a container and a TTL
// node. The exception is a TTL node on a server that is no longer configured for TTL
// nodes: EphemeralOwner is the time to live then, with the highest byte 0xff, which
// no session's id has.
const (
	Persistent              Mode = zk.FlagPersistent
	Ephemeral               Mode = zk.FlagEphemeral
	PersistentSequential    Mode = zk.FlagSequence
	EphemeralSequential     Mode = zk.FlagEphemeralSequential
	Container               Mode = zk.FlagContainer
	PersistentTTL           Mode = zk.FlagTTL
	PersistentSequentialTTL Mode = zk.FlagPersistentSequentialWithTTL
)

func (m Mode) ephemeral() bool { return m == Ephemeral || m == EphemeralSequential }

func (m Mode) sequential() bool {
	return m == PersistentSequential || m == EphemeralSequential || m == PersistentSequentialTTL
}

func (m Mode) ttl() bool { return m == PersistentTTL || m == PersistentSequentialTTL }
