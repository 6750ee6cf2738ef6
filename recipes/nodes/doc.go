// Package nodes keeps nodes in ZooKeeper for as long as a process wants them:
// registrations, presence, and groups of members.
//
//	node, err := nodes.NewPersistentNode(client, "/orders/web-1", []byte("10.0.0.7"))
//	if err != nil {
//		return err
//	}
//	defer node.Shutdown(ctx) // the node is gone when Shutdown returns nil
//	if _, err := node.WaitRegistered(ctx); err != nil {
//		return err // says whose node is in the way, or why there is no connection
//	}
//
// # Which one
//
//   - [PersistentNode], Curator's PersistentNode, keeps a node from NewPersistentNode to
//     Shutdown. The node is re-created after a lost session, and after another client
//     deletes it.
//   - A PersistentNode [WithTTL], Curator's PersistentTtlNode, outlives its process by a
//     time to live, so a restart does not interrupt it.
//   - [Group], Curator's GroupMember, is a set of members with payloads. Join it, read its
//     members, or follow its changes without joining.
//
// If the path is invalid, every call returns an error that matches zk.ErrInvalidPath. For
// any other invalid argument the error is a *framework.ConfigError and matches
// zk.ErrBadArguments.
//
// # When the session is lost
//
// The servers delete the node of a lost session some time after the client has given the
// session up. By then, the client is usually connected in a new session. The first
// request of the new session creates the node. If the old node still exists, the client
// recognizes the node by its owner, an earlier session of this client, and replaces the
// node in one transaction. [Registration] has the session on which the node depends: run
// work that needs the node under the context of that session. [PersistentNode.Changes]
// reports each loss and each new registration.
//
// # When another client's node is in the way
//
// A node at the same path that another session owns is a conflict. [WithConflictPolicy]
// chooses what to do: wait until the other node is gone, fail, or replace it. Shutdown
// leaves the other node alone. Nodes with [WithProtection] and sequential nodes have
// unique names, so they have no conflicts. Two persistent nodes of one client cannot
// have the same path.
//
// # Limits
//
// The node of a crashed process remains until its session times out. A node proves that a
// session is alive, not that the process works.
//
// The client logs losses and conflicts with the attributes curator.znode.path,
// curator.znode.owner and curator.cause. Package tracing counts them, and records a span
// for each period in which a node is registered or missing.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package nodes
