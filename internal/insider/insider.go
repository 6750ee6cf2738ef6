// Package insider is what the recipes and tools of this module ask of a
// framework.Client, and nobody else: the methods of framework.Extension are for
// recipes everywhere. Package framework implements [Client], and registers that
// when it is initialized. The types here are of the standard library and of
// go-zookeeper, because this package cannot import framework.
package insider

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
)

// Client has the methods for this module.
type Client interface {
	// AwaitOutage waits until there was no connection for as long as the
	// connection timeout, counted from this call at the earliest. It returns why,
	// or framework.ErrClosed if the client is closed. If ctx ends first, the error
	// matches ctx.Err().
	AwaitOutage(ctx context.Context) error

	// BeginDelete begins a Delete of AnyVersion framework.WithGuarantee. If there is a
	// connection, the request is in the connection's queue when BeginDelete returns, so
	// that a request that the client makes afterwards reaches the server behind the
	// deletion. If there is none, wait makes the request. If ctx ends while the
	// connection has too much under way to take the request, the client makes the
	// request anew in the background.
	//
	// The caller must call wait, once. It returns what Delete would have returned, as
	// soon as Delete would have. BeginDelete itself waits for nothing, and calls no code
	// of the user's, not even methods of ctx: it may be called with a mutex held.
	BeginDelete(ctx context.Context, path string) (wait func() error)

	// Clock returns the time of Go's clock plus the time for which the machine was
	// suspended: Go's clock stands still meanwhile. It is for comparisons with
	// other times of this clock.
	Clock() time.Time

	// Siblings returns the names of a node's children, without the protected nodes
	// that the client was making when their callers went, and that it deletes.
	Siblings(ctx context.Context, parent string) ([]string, error)

	// CurrentSiblings is Siblings at a server that has caught up with its leader,
	// as by Sync and with the exceptions of Sync. With framework.WithStrictContact
	// there are no exceptions: SyncQuorum precedes the list. CurrentSiblings also
	// returns the parent's Stat, which counts all children. Both requests go out at
	// once, so that they take one round trip.
	CurrentSiblings(ctx context.Context, parent string) (names []string, stat *zk.Stat, err error)

	// Emit has the client's emitter make a call of the user's code, such as of a hook,
	// after all calls that were posted before. Emit waits for nothing, and may be called
	// with a mutex held. Client.Close waits for the call, but no longer than a second.
	Emit(call func())

	// KeepUntil has Close leave an ephemeral node of the session with this id to
	// the servers, if Close is called before the given time. It is for a lock that
	// other clients must not get as soon as Close is called: its holder has lost it
	// and may still be stopping, or it has a minimum hold. The recipe calls the
	// function returned when it gives the node up by itself. Another call for the
	// node replaces the time, and the function of the earlier call has no effect
	// then.
	//
	// Close then deletes the client's other ephemeral nodes, and leaves the session
	// to the servers. They end it when the session timeout is over, be it before or
	// after the given time. The timeout counts from Close or, if Close reaches no
	// server in its time, from the last request that a server has heard. In that
	// case the other nodes stay as long. So do those that Close does not get deleted
	// in time, for which it has a second more for each thousand of them, and no
	// longer than the session timeout: it takes a server that answers after 30 ms
	// half a second for a thousand.
	KeepUntil(session int64, path string, until time.Time) (takeBack func())

	// MultiRead reads the data of several nodes with one request, and returns a
	// NodeRead for each path, in the same order. All of them are as of the one
	// transaction that zxid names: a server carries out no transaction while it
	// carries out a request that reads.
	//
	// The paths and the data must fit into one request and one answer. A request
	// that is longer than framework.WithMaxRequestSize allows is
	// framework.ErrRequestTooLarge.
	//
	// Servers know the request since 3.6. An older one ends the connection.
	//
	// The error is a *framework.OpError. It is about no node in particular, except
	// for a path that is not valid. Without paths, it matches zk.ErrBadArguments.
	MultiRead(ctx context.Context, paths ...string) (nodes []NodeRead, zxid int64, err error)

	// Watches returns how many watches the server has for this client, which is no
	// more than one for the data and one for the children of each node, however
	// many local waiters there are.
	Watches() int

	// WhileConnected returns a context for operations of the client that do not
	// survive the end of a connection, which is what Session.Trusted returns for
	// state.StandardPolicy. After its end, no such operation waits for another
	// connection, uses one, or tries again: the operation returns its error at once,
	// which matches the cause, such as framework.ErrSuspended. The cause may be
	// missing if the retry policy allows no other try. The connection may be
	// interrupted already. The context itself does not end. WhileConnected asks ctx
	// nothing.
	//
	// It is for callers that can leave the rest to the client, such as a delete
	// framework.WithGuarantee.
	WhileConnected(ctx, connection context.Context) context.Context
}

// NodeRead is what MultiRead has read of one node.
type NodeRead struct {
	Data []byte
	Stat *zk.Stat

	// Err is nil, zk.ErrNoNode, or another refusal of the server for this node
	// alone. Without an error, the Stat is not nil.
	Err error
}

// What Register was called with.
var (
	of               func(client any) Client
	withSuspendClock func(suspended func() time.Duration) any
)

// Register sets the functions behind Of and WithSuspendClock. Package framework calls
// it.
func Register(client func(client any) Client, clock func(suspended func() time.Duration) any) {
	of, withSuspendClock = client, clock
}

// Of returns the methods of a client, which is a *framework.Client or a
// framework.Extension. Anything else panics.
func Of(client any) Client { return of(client) }

// WithSuspendClock returns a framework.Option for tests: the function tells for how
// long the machine of the client has slept, in all. It suspends a client without
// putting a machine to sleep: see Host.Suspended of package testing/zktest. The client
// calls the function with locks held.
func WithSuspendClock(suspended func() time.Duration) any { return withSuspendClock(suspended) }
