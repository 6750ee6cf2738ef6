// Package tracing shows the work of clients and recipes in OpenTelemetry: which
// contender waited for which, for how long, and what was lost. It makes spans
// and metrics, and log lines for slow waits and holds.
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181/shop",
//		framework.WithServiceName("orders"),
//		framework.WithHooks(tracing.New()))
//
// Packages framework and recipes import no OpenTelemetry. Without a hook they
// allocate nothing for tracing.
//
// # Options
//
//   - [WithTracerProvider], [WithMeterProvider]: send spans and metrics to
//     these providers instead of OpenTelemetry's global ones.
//   - [WithOperations]: make a span for each ZooKeeper operation as well.
//   - [WithSlowWait], [WithSlowHold], [WithLogger]: report an acquire that
//     waits for too long, or a lock that is held for too long, with its stack.
//   - [WithPropagators]: describe traces in nodes in another way than by W3C
//     Trace Context, or with baggage.
//   - [WithoutTraceIDs]: keep trace ids out of the nodes.
//
// # Spans
//
// An acquire span lasts from the call to the grant or the failure. The span's events are
// the steps: queued and at which place, watching a predecessor, woken, connection
// suspended and restored, node abandoned, handed over, granted. An acquire that re-enters
// has no span; it is an event of the hold's span.
//
// A hold span lasts from the grant to the release or the loss. It is a sibling of the
// acquire span and has a link to it. If the acquire has no parent, the hold is a child of
// the acquire instead, so that both are in one trace. Work under the lease's context
// belongs to the caller's span if there is one, and otherwise to the hold's span.
//
// An overrun span shows a Selector's work that continues after the end of the leadership.
// It lasts from the report of the overrun until the work returns.
//
// A span has the name of its lock (locks.WithName), or else of the recipe, and never the
// path. Candidates for leadership are acquires and leaderships are holds. Both may last
// for weeks and are exported only when they end. The span of a multi-lock is the parent
// of the spans of its locks.
//
// # Links between processes
//
// The data of a contender's node has the trace and span of its acquire; see
// locks.Identity. As soon as a waiter has read the nodes of the holder and of the
// predecessor, the contender right ahead, its acquire span has links to their spans. The
// event "handed over" names the contender that left. The measured duration of a hand-over
// begins when this process learns of the change: how long the server takes to send the
// notification cannot be measured without a common clock.
//
// # Nodes and services
//
// A persistent node, such as a group member's or a service instance's, has a chain of
// spans from NewPersistentNode to its end. A register span lasts as long as the node is
// missing, and reports conflicts with nodes of other clients. Its child, a registration
// span, lasts until the node is lost or closed, and has the drains of an instance as
// events. The next register span has a link to the lost registration. Caches, values and
// barriers have no spans, except of their operations; see [WithOperations].
//
// # Metrics
//
// Metrics measure acquires, holds, hand-overs and waits at barriers. They count losses,
// registrations, conflicts, ejected instances, changes of shared values, and the writes of
// package atomic by outcome. They show how far caches are behind, and how many instances
// directories have. [TELEMETRY.md] lists every metric, attribute and event. Durations are
// in seconds. No metric has an attribute with many distinct values, such as a path, a node
// or a session.
//
// [New] has the limits and the cost.
//
// [TELEMETRY.md]: https://github.com/gocurator/curator/blob/main/tracing/TELEMETRY.md
package tracing
