// Package insider has the methods of a framework.Client that only recipes and tools of
// this module use; recipes in other modules use framework.Extension. Package framework
// implements [Client], and registers the implementation when it is initialized. The
// types come from the standard library and go-zookeeper, because this package cannot
// import framework.
package insider

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
)

// Client has the methods for this module.
type Client interface {
	// AwaitOutage waits until there was no connection for the connection timeout,
	// counted from this call at the earliest. It returns the cause of the outage, or
	// framework.ErrClosed if the client is closed. If ctx ends first, the error matches
	// ctx.Err().
	AwaitOutage(ctx context.Context) error

	// BeginDelete begins a Delete of AnyVersion framework.WithGuarantee. If there is a
	// connection, the request is in the connection's queue when BeginDelete returns, so
	// a later request of the client reaches the server after the deletion. If there is
	// no connection, wait makes the request. If ctx ends while the connection has too
	// much under way to take the request, the client repeats the request in the
	// background.
	//
	// The caller must call wait exactly once. wait returns when Delete would have
	// returned, with the same result. BeginDelete itself never blocks and calls no user code, not
	// even methods of ctx, so the caller may hold a mutex.
	BeginDelete(ctx context.Context, path string) (wait func() error)

	// Clock returns the time of Go's clock plus the time for which the machine was
	// suspended, because Go's clock stands still during a suspension. Compare the time
	// only with other times of this clock.
	Clock() time.Time

	// Siblings returns the names of a node's children. It omits protected nodes whose
	// callers gave up during the create, and which the client deletes.
	Siblings(ctx context.Context, parent string) ([]string, error)

	// CurrentSiblings is Siblings at a server that has caught up with its leader, with
	// the exceptions of Sync. With framework.WithStrictContact there are no exceptions:
	// SyncQuorum precedes the list. CurrentSiblings also returns the parent's Stat,
	// which counts all children. The client sends both requests together, so they take
	// one round trip.
	CurrentSiblings(ctx context.Context, parent string) (names []string, stat *zk.Stat, err error)

	// Emit makes the client's emitter call user code, such as a hook, after all calls
	// that were posted before. Emit never blocks, and the caller may hold a mutex.
	// Client.Close waits for the call, but at most a second.
	Emit(call func())

	// KeepUntil makes Close leave an ephemeral node of the session with this id to the
	// servers, if Close is called before the given time. Use KeepUntil for a lock that
	// other clients must not get as soon as Close is called: its holder has lost the
	// lock and may still be stopping, or the lock has a minimum hold. The recipe calls
	// takeBack when it deletes the node by itself. A second call for the same node
	// replaces the time, and the earlier takeBack then has no effect.
	//
	// Close then deletes the client's other ephemeral nodes, and leaves the session to
	// the servers, which end the session after the session timeout, whether that is
	// before or after the given time. The timeout counts from Close or, if Close
	// reaches no server in time, from the last request that a server has received. In
	// that case the other nodes stay equally long. Close deletes nodes for a second at
	// most; nodes that are not deleted by then stay, too. A server that answers within
	// 30 ms needs half a second for a thousand nodes.
	KeepUntil(session int64, path string, until time.Time) (takeBack func())

	// MultiRead reads the data of several nodes with one request, and returns a
	// NodeRead for each path, in the same order. All nodes are as of the same
	// transaction, which zxid names: a server carries out no transaction during a read.
	//
	// The paths and the data must fit into one request and one answer. If the request
	// is longer than framework.WithMaxRequestSize allows, the error matches
	// framework.ErrRequestTooLarge.
	//
	// Servers before 3.6 end the connection.
	//
	// The error is a *framework.OpError, and concerns the whole request, except for an
	// invalid path. Without paths, the error matches zk.ErrBadArguments.
	MultiRead(ctx context.Context, paths ...string) (nodes []NodeRead, zxid int64, err error)

	// Watches returns how many watches the server has for this client: at most one for
	// the data and one for the children of each node, however many local waiters there
	// are.
	Watches() int

	// WhileConnected returns a context for operations of the client that must not
	// survive the end of a connection. The argument connection is the result of
	// Session.Trusted for state.StandardPolicy, and may have ended already. After its
	// end, such an operation does not wait for another connection, use another one, or
	// retry: the operation returns its error at once. The error matches the cause, such
	// as framework.ErrSuspended, except that the cause may be missing if the retry
	// policy allows no other try. The returned context itself does not end with the
	// connection. WhileConnected calls no method of ctx.
	//
	// Use WhileConnected if the client can finish the work in the background, such as a
	// delete framework.WithGuarantee.
	WhileConnected(ctx, connection context.Context) context.Context
}

// NodeRead is the result of MultiRead for one node.
type NodeRead struct {
	Data []byte
	Stat *zk.Stat

	// Err is nil, zk.ErrNoNode, or another refusal of the server for this node
	// alone. Without an error, the Stat is not nil.
	Err error
}

// These are the arguments of Register.
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

// WithSuspendClock returns a framework.Option for tests: the function returns for how
// long the machine of the client has slept in total. With this option, a test suspends
// a client without putting a machine to sleep: see Host.Suspended of package
// testing/zktest. The client calls the function with locks held.
func WithSuspendClock(suspended func() time.Duration) any { return withSuspendClock(suspended) }
