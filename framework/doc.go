// Package framework is a managed ZooKeeper client. The client connects, keeps a session
// alive, opens a new session when the old one is lost, and notifies dependent code when
// a session can no longer be trusted.
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181/shop",
//		framework.WithSessionTimeout(15*time.Second),
//		framework.WithLogger(slog.Default()))
//	if err != nil {
//		return err // a *ConfigError; New does not wait for a connection
//	}
//	defer client.Close() // ends the session, and its ephemeral nodes with it
//
//	data, stat, err := client.Get(ctx, "/stock/sku-42")
//	if err != nil {
//		return err // an *OpError; errors.Is finds zk.ErrNoNode in it
//	}
//	_, err = client.Set(ctx, "/stock/sku-42", sell(data), stat.Version)
//	return err // matches zk.ErrBadVersion if another client was first
//
// A [Client] has the operations; its documentation says what the context of an
// operation carries. Ephemeral nodes live in a [Session]. A [Watch] waits for one
// change, and [Client.Watch] follows all of them. [Option] groups the options by
// purpose. Recipes are built on [Extend]. Import go-zookeeper/zk for errors, ACLs and
// stats, but never for a connection.
//
// # Connection states and the loss of a session
//
// [Client.States] reports every transition; package state draws them. While the client is
// Suspended, operations wait for a connection. The session is Lost when a server says so
// or hands out another session, or when nine tenths of the negotiated timeout have passed
// since the last answered request was sent, before the server can delete the session's
// nodes. [Session.Context] then ends, with [ErrSessionLost] as its cause, before any
// listener is notified. Under state.StandardPolicy, the context of [Session.Trusted] ends
// at the first interruption. A new session follows.
//
// # Your code
//
// Hooks, log handlers, dialers, the function of [WithServers], TLS callbacks, ACL
// providers, codecs, filters and contexts run in place, with no mutex of the library
// held. This code must return soon; a dialer must return soon after its context ends.
// The code must not panic or end its goroutine by runtime.Goexit: a panic crashes the
// program. A slow hook should copy the data it needs and pass the copy to another
// goroutine. A hook that closes its client must also use another goroutine, because
// Close waits for the goroutines that call hooks.
//
// The library protects first and reports afterwards: the context of a lease ends, the
// deletion of its node is sent, a guard kills its process. Then the event is emitted:
//
//   - The goroutine of an operation or acquire calls the hooks about it: the start and
//     the end of an operation, each step of an acquire up to the start of the hold, and
//     the end of the hold by its release.
//   - One goroutine of the client, the emitter, makes all other calls, one after the
//     other and in the order of the events: connection states, revocations and losses of
//     holds, changes of persistent nodes, caches and directories, and the lines of the
//     log. While a call blocks, later calls wait for it in memory. [Client.Close] waits
//     for the emitter for at most a second.
//
// The function passed to Do, Lead or Run is work, not a callback: if it panics or ends
// its goroutine, the lock is released. If a program recovers from the panic of a hook, as
// net/http does, no protected node is left behind, and no lock stays held.
//
// # Limits
//
// A stopped process, or a virtual machine that its host has paused, learns of the loss
// too late: only a fencing token helps, as in package recipes/fence. A server that is
// partitioned from its ensemble keeps answering for some time: see [WithStrictContact].
// SASL does not encrypt: combine [WithSASL] with [WithTLS]. [GUARANTEES.md] lists what
// users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package framework
