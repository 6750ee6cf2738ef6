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
//   - [PersistentNode], Curator's PersistentNode, is there from
//     NewPersistentNode to Shutdown. It comes back after a loss of the session,
//     and when somebody deletes it.
//   - A PersistentNode [WithTTL], Curator's PersistentTtlNode, outlives its
//     process by a time to live, so that a restart does not interrupt it.
//   - [Group], Curator's GroupMember, is a set of members with payloads. Join
//     it, read its members, or follow its changes without joining.
//
// A path that cannot be used is an error of every call and matches
// zk.ErrInvalidPath. Any other such value is a *framework.ConfigError and
// matches zk.ErrBadArguments.
//
// # When the session is lost
//
// The servers delete the node of a lost session, but some time later than the
// client gives the session up. The client is back in a new session before, as a
// rule. The first request of that session creates the node. If the old node is
// still there, the client knows it by its owner, which is a session of its own,
// and replaces it in one transaction. [Registration] has the session on which
// the node depends: work that needs the node to be there runs under the
// session's context. The iterator of [PersistentNode.Changes] tells each loss,
// and each return.
//
// # When somebody else is there
//
// A node with the same path that is of another session is a conflict.
// [WithConflictPolicy] says what to do: wait for its end, fail, or replace it.
// Shutdown deletes the node only if it is ours. [WithProtection] and sequential
// nodes have names of their own, and no conflicts. Two persistent nodes of one
// client cannot have the same path.
//
// Java Curator's PersistentNode knows no conflicts: it writes its data into a
// node with its path, and deletes that when it is closed. Ours restores its
// data, and comes back.
//
// # When servers hang up
//
// If servers close the connection whenever the node's data is sent, for example
// because the data is longer than their jute.maxbuffer, the persistent node pauses for
// five minutes between two attempts: each attempt interrupts the client's other
// requests. WaitRegistered, Set and LastError then return a *framework.HangUpError. A Set
// with shorter data ends the pause. Meanwhile, a node that had other data keeps it, and is
// repaired with it.
//
// # Limits
//
// ZooKeeper's delete compares the version of a node, and not its owner. The
// client looks at the owner first. For somebody else's node to be deleted by
// mistake, all of this must happen between the look and the delete: our node
// goes because a third party deletes it, or because its session ends; somebody
// else creates the path; and that node has the same version as ours had. A client of
// this package that has waited for our node, or replaced it, never gives its nodes the
// last version that it has seen there. It remembers the last eight nodes of other
// clients.
//
// The node of a process that crashed stays until its session has timed out. A
// node says that a session lives, and not that its process works.
//
// Losses and conflicts are in the log of the client, with the attributes
// curator.znode.path, curator.znode.owner and curator.cause. Package tracing
// counts them, and has a span for each time that a node is there or is missing.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package nodes
