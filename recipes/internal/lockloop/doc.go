// Package lockloop is the one loop that every lock-like recipe runs on: create a protected ephemeral sequential node,
// list the queue, ask a predicate, watch one node, wait, begin again. It is Curator's internalLockLoop with these
// differences:
//
//   - A node is trusted only in the session that created it. After a session loss a waiter throws its node away and
//     queues again, even if it sees that node at the head of the queue (CURATOR-604).
//   - Only names of the recipe count, and they are ordered by number, not as text.
//     Where the server has no numbers left, the order is that of creation.
//   - Every exit without a grant hands the node to the client's guaranteed delete, which needs no live context.
//   - The caller's deadline is the only one: a waiter sits an outage out.
//
// Predicates and order are pure; see admit.go and order.go.
// overflow.go asks the server for the order where numbers do not tell it.
package lockloop
