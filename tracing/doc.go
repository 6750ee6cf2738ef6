// Package tracing shows in OpenTelemetry what clients and locks do: who waited for whom, for how long, and what was lost.
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181/shop",
//		framework.WithServiceName("orders"),
//		framework.WithTracer(tracing.New()))
//
// Spans and metrics go to the global providers, or to those of [WithTracerProvider] and [WithMeterProvider]. Package
// framework and package recipes import no OpenTelemetry: without a Tracer nothing is allocated for it.
//
// # Spans
//
// An acquire is a span from the call to the grant or the failure. It is named by the lock's name, which recipes.WithName
// sets, or else by the recipe, and never by the path. Its events tell the story: queued, at which place; whom it watches;
// woken; the connection suspended and restored; its node abandoned; by whom the lock was handed over; granted. What is
// acquired by a re-entry is no span, but an event of the hold.
//
// A hold is a span from the grant to the release or the loss. It is a sibling of the acquire, to which it has a link, since
// it begins where that ends. If the acquire has no parent, the hold is its child, so that both are in one trace, and the
// work done under the lease's context is in the hold's span. Who has a span keeps it.
//
// Candidates of a LeaderLatch or LeaderSelector are acquires, and leaderships are holds: both may last for weeks, and are
// seen when they have ended. A LeaderSelector whose work goes on after its leadership makes one more span, "overrun", from
// the report of that to the work's return.
//
// A lock of several locks is one span, in which are those of its parts. Operations have spans, too, if [WithOperations]
// asks for them.
//
// # Links
//
// The data of a contender's node says in which span it was acquired; see recipes.Identity. So a waiter's span has a link
// to the holder's, and to that of the contender right ahead, from the moment at which the waiter has seen their nodes. A
// sampler that decides at the start of a span does not see links that are added later. What leads to the trace can be left
// out, by [WithoutTraceIDs]. Baggage is not in there, unless [WithPropagators] asks for it.
//
// To know the holder costs a waiter one more request if the holder is not right ahead of it. Only who has a Tracer makes it,
// whether the span is sampled or not. A waiter is not woken when the lock passes on to somebody ahead of it, so the holder on
// its span is the one that it saw last.
//
// When the wait ends, the event "handed over" says who has left. Its duration counts from the moment at which this
// process heard of that, to the grant. The server's way to tell us is not in it: nobody can measure that without a clock
// that is the same on both sides.
//
// The holder of a lock is "unknown" if it is another program that writes other data, such as Java, or has recipes.WithNodeData,
// recipes.WithID or recipes.WithoutIdentity. A link may lead to a span that the other's sampler has not taken. At a
// semaphore, who waits for his turn to take leases sees as the holder the one whose turn it is, and who waits for leases,
// the first who has one. After recipes.WithLocalHandOver, and after an interruption that a
// LeaderLatch outlasted with its node, links from other processes lead to the acquire that made the node.
//
// # Reports
//
// [WithSlowWait] and [WithSlowHold] make one log line, and one event, for each wait or hold that takes too long.
// Leadership, and waiting for it, is meant to last, and makes none.
//
// # Cost
//
// Without a Tracer there is none. With spans, metrics and a batching exporter, to acquire and release a mutex that nobody
// contends took 4 to 5 % longer at an ensemble of three servers, and 6 to 8 % at a single one, all on one machine with the
// client (BenchmarkUncontended). About two thirds of that are OpenTelemetry's own, for two spans and four measurements. If
// the sampler does not take the trace, half of it is left.
//
// # Names
//
// Metrics have no attribute of which there may be many values: no path, no node, no session. Durations are in seconds.
// Stability: names that begin with "curator." are this module's; the others are OpenTelemetry's.
//
//	METRIC                          KIND           UNIT           ATTRIBUTES
//	curator.lock.acquire.duration   histogram      s              recipe, mode, name, outcome, error.type
//	curator.lock.hold.duration      histogram      s              recipe, mode, name, end
//	curator.lock.handoff.duration   histogram      s              recipe, mode, name
//	curator.lock.waiters            updowncounter  {acquire}      recipe, mode, name
//	curator.lock.holders            updowncounter  {hold}         recipe, mode, name
//	curator.lock.acquisitions       counter        {acquire}      recipe, mode, name, outcome, error.type
//	curator.lock.losses             counter        {hold}         recipe, mode, name, end
//	curator.lock.overruns           counter        {term}         recipe, mode, name
//	curator.sessions                updowncounter  {client}       curator.session.state
//	curator.session.reconnects      counter        {connection}
//	curator.session.expiries        counter        {session}
//	curator.watches                 updowncounter  {watch}
//	db.client.operation.duration    histogram      s              db.*, server.*, error.type
//
//	ATTRIBUTE                       MEANING
//	curator.lock.recipe             mutex, read_write_lock, semaphore, semaphore_mutex, multi_lock, leader_latch, leader_selector
//	curator.lock.mode               exclusive, read, write, shared
//	curator.lock.name               given by recipes.WithName; else there is none; on metrics _OTHER, if there are too many
//	curator.lock.outcome            acquired, reentered, not_acquired, queue_full, timeout, canceled, error
//	curator.lock.end                released, session_lost, suspended, node_deleted, revoked, client_closed, other
//	curator.lock.path               the server's name for the lock's path; not on metrics, like all that follows
//	curator.lock.leases             how many are asked for at once
//	curator.lock.try                true if the acquire does not wait for others
//	curator.lock.timeout            seconds until the deadline of the acquire
//	curator.lock.position           contenders ahead, when it queued for the first time; on the event, each time
//	curator.lock.queue.length       contenders then, itself included
//	curator.lock.local.ahead        acquires of the same lock and client ahead, before it had a node
//	curator.lock.node               the name of the contender's own node
//	curator.lock.fencing_token      that node's czxid
//	curator.lock.wakes              how often it was woken, if at all
//	curator.lock.holder             service@host/pid of the holder, as last seen, or unknown
//	curator.lock.holder.node        the name of the holder's node, in quotes if it cannot be printed
//	curator.lock.holder.age         seconds since that node queued, by the server's clock and ours; since the grant, if it was not read, being ours
//	curator.lock.holder.stacktrace  of the holder's acquire, if it is in this process
//	curator.lock.predecessor        like the holder, of who is right ahead
//	curator.lock.predecessor.node   the name of the node of who is right ahead
//	curator.lock.handoff.duration   seconds from hearing of the release to the grant
//	curator.lock.handoff.local      the lock was passed on within this process; see recipes.WithLocalHandOver
//	curator.lock.downgraded         a reader took the place of its own writer
//	curator.lock.waited             seconds, when a slow wait is reported
//	curator.lock.held               seconds, when a slow hold is reported
//	curator.lock.overrun            seconds that a leader's work went on after its leadership, in log lines
//	curator.link                    what a link leads to: holder, predecessor, or the acquire of a hold
//	curator.session.state           connecting, connected, suspended, lost; in log lines, the client's state
//	curator.session.id              in hexadecimal digits, as in ZooKeeper's own logs
//	curator.cause                   the text of an error that explains something
//	curator.log.dropped             log lines that were dropped because the handler did not keep up, in log lines
//	curator.outage.duration         how long there has been no connection, in log lines
//	curator.znode.path              of an operation's span
//	curator.operation.attempts      how often it got as far as a connected session
//	code.stacktrace                 of the acquire, in reports
//	db.system.name                  zookeeper
//	db.operation.name               create, get, ...
//	db.namespace                    what stands before the path; not on metrics
//	db.response.status_code         the code of the server's answer, if it is an error
//	error.type                      that code; or timeout, canceled, queue_full, session_lost, ...
//	server.address                  of the server in use
//	server.port                     of the server in use
//
//	EVENT                           OF
//	queued locally                  acquire
//	enqueued                        acquire
//	watching                        acquire
//	woken                           acquire
//	handed over                     acquire
//	granted                         acquire
//	abandoned                       acquire
//	connection suspended            acquire, hold
//	connection restored             acquire, hold
//	session lost                    acquire
//	re-entered                      hold
//	revocation asked for            hold
//	lost                            hold
//	slow wait                       acquire
//	slow hold                       hold
//
// # What is promised
//
// GUARANTEES.md lists every promise, with the tests that hold it. The golden
// files in testdata, one for each scenario, hold what spans and metrics say.
package tracing
