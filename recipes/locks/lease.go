package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// Lease is a held lock, or a leadership. It is held exactly as long as its context is
// alive. A lock's lease must be released. A Lease is safe for concurrent use, and any
// goroutine may release it. Acquire returns it; the zero value cannot be used. A holder
// that may not read its own node keeps its lock, and keeps trying to read the node.
//
// A lease that is dropped without a release keeps its lock as long as the session. The
// garbage collector does not release it, because a program may intend to hold a lock for
// the rest of its life.
type Lease seat.Lease

func leaseOf(l *seat.Lease, err error) (*Lease, error) { return (*Lease)(l), err }

func (l *Lease) inner() *seat.Lease { return (*seat.Lease)(l) }

// LeaseFromContext returns the lease of ctx, which must come from Lease.Context,
// Lease.WithContext, Do, or a leader. Use it in work that needs the lease's FencingToken
// or Revoked. If ctx is under several leases, the result is the innermost one.
func LeaseFromContext(ctx context.Context) (*Lease, bool) {
	l, ok := seat.LeaseFromContext(ctx)
	return (*Lease)(l), ok
}

// Context ends when the lock is no longer held, or can no longer be trusted to be held:
// work under it, and stop when it ends. context.Cause returns the reason:
//
//   - ErrReleased: the lease was released.
//   - framework.ErrSessionLost: the session is over, or must be assumed to be over because
//     no server has answered in time.
//   - framework.ErrSuspended: the connection broke, and the client's error policy treats
//     that as a loss.
//   - ErrNodeDeleted: another client deleted the lock's node. In the first second of a
//     hold, the holder may learn of the deletion up to a second late, and later at once.
//     WithRevocation removes that delay.
//   - ErrRevoked: another client asked for the lock, and the lock has WithRevocation, or
//     another client asked for the leadership.
//   - framework.ErrClosed: the client was closed.
//
// The context has the values of the acquire's context, but neither its deadline nor its
// end, because the acquire's context may be meant for the wait alone; see WithContext. An
// acquire of the same lock under this context re-enters the lock.
func (l *Lease) Context() context.Context { return l.inner().Context() }

// WithContext returns a copy of ctx that also ends with the lease. Use it for work that
// should stop when a request is cancelled, and for holding two locks:
// b.WithContext(a.Context()) ends with either. An acquire under the copy re-enters the
// lock.
//
// The end of the lease reaches the copy at once, with the lease's cause. The end of ctx
// reaches it within the time that it takes to start a goroutine. At ctx's deadline, the
// cause is context.DeadlineExceeded. As with every derived context, the caller must call
// the returned function when the work is done. The function does not release the lease.
func (l *Lease) WithContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.inner().WithContext(ctx)
}

// FencingToken returns a number that grows from each holder of this lock to the next,
// across lost sessions and even if the lock's path is deleted. A resource is safe if it
// remembers the largest token that it has seen and refuses smaller ones: the resource
// then refuses even a holder that was paused and has not noticed the loss of the lock.
// Package fence stores such a number. With package fencehttp or module contrib/fencegrpc,
// every request under the lease's Context carries the token.
//
// The token is the czxid of the holder's node: a Java holder finds its own token in the
// Stat of its node. Some leases share a token:
//
//   - A lease that re-enters a lock has the lock's token, and so has a lease that reuses
//     the node by a ReleasePolicy.
//   - Readers of one client have the same token while they share a node: see ReadLock.
//   - A lease for several leases of a semaphore has the token of the last one. Other
//     contenders hold their leases at the same time, so a resource cannot refuse smaller
//     tokens there.
//   - The lease of an InterProcessMultiLock has the token of the last lock. A resource
//     that one of the locks guards should get the token of that lock; see Leases.
func (l *Lease) FencingToken() int64 { return l.inner().FencingToken() }

// Path returns the path of the holder's node, as seen by the client that the lock was
// made with. If there are several nodes, it returns the path of the first. No other node
// ever has the same name.
func (l *Lease) Path() string { return l.inner().Path() }

// Leases returns the leases of an InterProcessMultiLock's locks, in the order of their
// acquires. For any other lock, the only element is the lease itself.
func (l *Lease) Leases() []*Lease {
	var all []*Lease
	for _, one := range l.inner().Leases() {
		all = append(all, (*Lease)(one))
	}
	return all
}

// Checks returns checks for transactions of the client that the lock was made with, or of
// any view of that client. The server carries out such a transaction only while the
// holder's nodes exist, and admits no other contender while they do. Otherwise the
// transaction fails with a *framework.TxnError that matches zk.ErrNoNode, even if the
// caller has not noticed the loss. For data in ZooKeeper, this is the strongest fence.
// (With a ReleasePolicy, a later lease of this client may have the same node.) The client
// of package fencezk adds the checks to each of its writes.
func (l *Lease) Checks() []framework.TxnOp {
	var checks []framework.TxnOp
	for _, h := range l.inner().Holds() {
		for _, n := range h.Seat().Nodes() {
			checks = append(checks, framework.CheckOp(n.Path, framework.AnyVersion).In(h.Client()))
		}
	}
	return checks
}

// Revoked is closed when another client asks the holder to give the lock up; see Revoke.
// The first call starts the watch, and also detects an earlier request.
func (l *Lease) Revoked() <-chan struct{} { return l.inner().Requested() }

// Release gives the lock up. It ends the lease's context before it contacts the server.
// If a lock was re-entered, only the last release frees it.
//
// Release returns an error only if the caller can act on it:
//
//   - The lease was lost before: the error is the reason of the loss.
//   - The server refuses to delete the node, for lack of rights, and the node stays as
//     long as the session: framework.IsRefusal returns true for the error.
//   - The lease was already released: ErrReleased.
//
// In every other case, Release returns nil. It waits for the server's answer, but no
// longer than until ctx, the connection or the session ends. If ctx is already done, it
// does not wait. In an outage, Release returns nil at once, and the client deletes the
// node in the background; see "How a call ends a node" in the index of the recipes. Until
// the node is gone, the next acquire finds it ahead. So
//
//	defer lease.Release(ctx)
//
// is correct for any ctx. With a ReleasePolicy, the node may stay. For a minimum hold,
// Release waits until the end of the minimum hold is written into the node. If readers
// share a node, the last release deletes the node and returns the error of the deletion.
// A release never deletes another holder's node. The lease of an InterProcessMultiLock
// releases all locks in reverse order, and returns their errors joined.
func (l *Lease) Release(ctx context.Context) error { return l.inner().Release(ctx) }
