// Package lockloop is the one loop that every lock-like recipe runs on. A
// contender creates a protected ephemeral sequential node and lists the queue.
// If it is not admitted, it watches one node, waits for it to change, and looks
// again. The loop is Curator's internalLockLoop with these differences:
//
//   - A node is trusted only in the session that created it. After a session
//     loss a waiter throws its node away and queues again, even if it sees that
//     node at the head of the queue (CURATOR-604).
//   - Only names of the recipe count, and they are ordered by number, not as
//     text. Where the server has no numbers left, the order of creation counts.
//   - Every exit without a grant hands the node to the client's guaranteed
//     delete, which needs no live context.
//   - The caller's deadline is the only one: a waiter sits an outage out.
//
// The files:
//
//	loop.go       what a lock configures, and what one attempt brings along
//	contender.go  one attempt: its node, its errors, what it has seen
//	refusal.go    why an attempt was not admitted, and who was ahead
//	look.go       a look before an attempt that does not wait, after a refusal
//	byorder.go    admission by the order of the queue: locks and leaders
//	crowd.go      contenders of one client that look at the queue together
//	next.go       the next in line, who need not look again
//	own.go        the watch on our own node
//	alone.go      whether an admitted node is alone in the queue
//	holder.go     who the holder is, for those who wait for long
//	blocker.go    the nodes that they wait for, with one watch each
//	news.go       what those know that come later
//	together.go   one attempt in a crowd
//	view.go       a listing that a crowd looks at; pure
//	twins.go      other nodes of the create that has made ours
//	foreign.go    contenders of another recipe at the same path
//	observe.go    what a tracer is told
//	bycount.go    admission by the number of children: semaphores
//	order.go      which children count, and their total order; pure
//	sort.go       the order of entries that were read elsewhere; pure
//	downgraded.go what changes in a queue while it is read elsewhere; pure
//	admit.go      how a contender stands in a queue; pure
//	overflow.go   the order where the server has no numbers left
package lockloop
