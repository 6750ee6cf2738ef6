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
// deletes a node only if this client created it. Nodes with [WithProtection] and
// sequential nodes have unique names, so they have no conflicts. Two persistent nodes of
// one client cannot have the same path.
//
// Java Curator's PersistentNode does not detect conflicts: Java writes its data into an
// existing node at the path, and deletes that node on close. This package then restores
// its data, or re-creates its node.
//
// # When servers hang up
//
// If servers close the connection whenever the node's data is sent, for example because
// the data is longer than their jute.maxbuffer, the persistent node waits five minutes
// between two attempts, because each attempt interrupts the client's other requests.
// WaitRegistered, Set and LastError then return a *framework.HangUpError. A Set with
// shorter data ends the wait. Meanwhile, a node that had other data keeps that data, and
// is repaired with it.
//
// # Limits
//
// ZooKeeper's delete compares the version of a node, not its owner. The client therefore
// checks the owner first. To delete another client's node by mistake, all of this must
// happen between the check and the delete: the client's node disappears, because a third
// client deletes it, or because its session ends while the client replaces it in the next
// session; another client creates a node at the same path; and the new node has the same
// version as the old one. A client of this package that has waited for a node, or replaced
// it, never gives its own nodes the last version that it saw there. The client remembers
// the last eight nodes of other clients.
//
// A stalled server may apply a request of a lost session late, until the servers end that
// session. Until then, Shutdown leaves the session's node to the servers, and does not
// repeat a delete whose reply was lost, so that a late delete finds no other node at the
// path. But a late write or replacement hits another client's node of the same version, if
// Shutdown has deleted the node of the client's next session meanwhile.
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
