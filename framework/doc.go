// Package framework is a managed ZooKeeper client. It connects, keeps a session
// alive, makes a new session when the old one is lost, and tells what depends
// on a session when it can no longer be trusted. The locks and leaders of
// package recipes are built on it. It is also useful alone:
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181/shop",
//		framework.WithSessionTimeout(15*time.Second),
//		framework.WithLogger(slog.Default()))
//	if err != nil {
//		return err // a *ConfigError; New does not wait for a connection
//	}
//	defer client.Close() // ends the session, and its ephemeral nodes with it
//
//	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
//	defer cancel()
//	data, stat, err := client.Get(ctx, "/stock/sku-42")
//	if err != nil {
//		return err // an *OpError; errors.Is finds zk.ErrNoNode in it
//	}
//	_, err = client.Set(ctx, "/stock/sku-42", sell(data), stat.Version)
//	return err // matches zk.ErrBadVersion if another client was first
//
// A [Client] has the operations, and [Client.Namespace] makes cheap views of
// it. Ephemeral nodes live in a [Session]. A [Watch] waits for one change, and
// [Client.Watch] follows all of them. An operation's error is an [*OpError].
// Users import go-zookeeper/zk for error values, access control lists and
// stats, but never for a connection.
//
// # Which option for what
//
//   - How soon a crashed process frees its locks: [WithSessionTimeout].
//   - How long operations wait and try: [WithConnectionTimeout], [WithRetry].
//   - When work must stop: [WithErrorPolicy], [WithSafetyMargin] and
//     [WithStrictContact].
//   - Which servers, and how to reach them: [WithServers] with [ResolveDNS],
//     [WithDialer] and [WithTLS].
//   - Rights: [WithAuth] says who the client is, [WithACLProvider] who may do
//     what to its nodes. By default everybody may do everything.
//   - What goes on inside: [WithLogger] and [WithTracer]. Without them, and
//     without a reader of [Client.States], an outage is silent.
//   - Lost replies: [Protected], [OrSet] and [Idempotent] for a create,
//     [IdempotentSet] for a set, [Guaranteed] for a delete.
//
// # Connection states and the loss of a session
//
// [Client.States] reports every transition; package state draws them. While the
// client is Suspended, operations wait for a connection. The session is Lost
// when a server says so, when a server hands out another session, or when nine
// tenths of the negotiated timeout have passed since the last answered request
// was sent: before the server can delete its nodes. See [WithSafetyMargin].
// [Session.Context] ends then, with [ErrSessionLost] as its cause, before any
// listener is told. [Session.Trusted] ends at an interruption already, if the
// error policy asks for that. The next session begins by itself.
//
// # What a context carries
//
//   - A deadline. Every operation returns when its context ends. A request that
//     was sent cannot be taken back: a write then returns an error that matches
//     [ErrOutcomeUnknown]. The client cleans up after [Protected] and
//     [Guaranteed] operations in the background, on no caller's context.
//   - A session. Inside [Client.InSession], no operation of the client is
//     carried out in a later session, not even by a retry.
//   - A retry budget. Operations and loops inside a retry.Do share the policy
//     of the outermost loop, in place of their own.
//   - A lease. The context of a held lock ends when the lock can no longer be
//     trusted. It has the values of the context of the acquire, but not its
//     deadline. LeaseFromContext finds its lease. An acquire of the same lock
//     under it re-enters the lock. Any other acquire is another contender,
//     even in the same goroutine.
//   - A span, which a [Tracer] adds for the operations and the work below.
//
// # Concurrency
//
// A client and its views are safe for concurrent use: they are one client with
// one session. Readers of [Client.States] hear every transition in order, and
// delay nobody. Log handlers and tracers may be slow or block: they delay
// neither the session nor background work, and [Client.Close] by a second at
// most. A slow tracer delays the operations that it is told of. Close returns
// when everything that the client started has ended.
//
// # Limits
//
// A process that is stopped, or a virtual machine that is paused unawares,
// learns of the loss of its session too late: only a fencing token helps, as in
// package recipes/fence. A server that is cut off from its ensemble answers for
// some time: see [WithStrictContact]. There is no SASL, and so no Kerberos.
// Requests are limited by [WithMaxRequestSize], and connections to 768 requests
// or 4 MiB under way.
//
// GUARANTEES.md lists what is promised, the tests that hold it, and all limits.
package framework
