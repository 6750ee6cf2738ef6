package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// Lease is a held lock, or a leadership. It is held exactly as long as its
// context is alive. A lock's lease must be released. A Lease is safe for
// concurrent use, and any goroutine may release it. Acquire makes it; the zero
// value is of no use.
//
// A lock whose lease is dropped without a release stays held as long as the
// session. The garbage collector does not release it, since a program may mean
// to hold a lock for the rest of its life.
type Lease seat.Lease

func leaseOf(l *seat.Lease, err error) (*Lease, error) { return (*Lease)(l), err }

func (l *Lease) inner() *seat.Lease { return (*seat.Lease)(l) }

// LeaseFromContext returns the lease that ctx is under: a context from
// Lease.Context, Lease.WithContext, Do, or a leader. It serves work that needs
// its FencingToken, or its Revoked. If ctx is under several leases, it is the
// innermost.
func LeaseFromContext(ctx context.Context) (*Lease, bool) {
	l, ok := seat.LeaseFromContext(ctx)
	return (*Lease)(l), ok
}

// Context ends when the lock is not held any more, or can no longer be trusted
// to be: work under it, and stop when it ends. The cause, from context.Cause,
// is the reason:
//
//   - ErrReleased: the lease was released;
//   - framework.ErrSessionLost: the session is over, or its time is up because
//     no server has answered;
//   - framework.ErrSuspended: the connection broke, if the client's error
//     policy treats that as loss;
//   - ErrNodeDeleted: somebody deleted the lock's node. In the first second of a
//     hold, the holder may learn of that up to a second late, and later at once.
//     WithRevocation makes it at once from the beginning;
//   - ErrRevoked: somebody asked for the lock, and it has WithRevocation, or
//     for the leadership;
//   - framework.ErrClosed: the client was closed.
//
// It carries the values of the context that the lease was acquired with, but
// neither its deadline nor its end, since that context may have been meant for
// the wait alone; see WithContext. An acquire of the same lock under this
// context re-enters it.
func (l *Lease) Context() context.Context { return l.inner().Context() }

// WithContext returns a copy of ctx that ends with the lease, too, whichever
// is first. It is for work that should also stop when a request is cancelled,
// and for holding two locks: b.WithContext(a.Context()) ends with either. An
// acquire under it re-enters the lock.
//
// The lease's end reaches it at once, with the lease's cause; the end of ctx,
// within the time that it takes to start a goroutine. At ctx's deadline, the cause is
// context.DeadlineExceeded. As with every derived context, the caller must call the
// function returned when the work is done. It does not release the lease.
func (l *Lease) WithContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.inner().WithContext(ctx)
}

// FencingToken returns a number that grows from each holder of this lock to
// the next, across session losses and deletion of the lock's path. A resource
// that remembers the largest token it has seen, and refuses smaller ones, is
// safe even from a holder that was stopped for so long that it does not know
// of its loss. Package fence keeps such a number. A request that is made under the lease's
// Context carries it, by package fencehttp or module contrib/fencegrpc.
//
// It is the czxid of the holder's node: a Java holder finds its own in that
// node's Stat. These leases share a token, or have a particular one:
//
//   - Leases that re-enter a lock have its token, and so have those that reuse its
//     node by a ReleasePolicy.
//   - Readers of one client have one token while they share a node: see ReadLock.
//   - Several leases of a semaphore have the last one's. Others hold theirs at
//     the same time, so that a resource cannot refuse smaller ones there.
//   - The lease of an InterProcessMultiLock has the last lock's. A resource
//     that one of the locks guards should get that lock's token; see Leases.
func (l *Lease) FencingToken() int64 { return l.inner().FencingToken() }

// Path returns the path of the holder's node, for the view of the client that
// the lock was made with; of the first, if there are several. No other node
// ever has its name.
func (l *Lease) Path() string { return l.inner().Path() }

// Leases returns the leases of an InterProcessMultiLock's locks, in the order
// in which they were acquired. For any other lock that is the lease itself.
func (l *Lease) Leases() []*Lease {
	var all []*Lease
	for _, one := range l.inner().Leases() {
		all = append(all, (*Lease)(one))
	}
	return all
}

// Checks returns checks for transactions of the client that the lock was made with, or
// of any view of it. The server carries such a transaction out only while the holder's
// nodes exist, and admits no other contender while they do. Otherwise the transaction
// fails with a *framework.TxnError that matches zk.ErrNoNode, whether its caller knows
// of the loss or not. For data in ZooKeeper, that is the strongest fence there is.
// (With a ReleasePolicy, a later lease of this client may have the same node.) Package
// fencezk has a client each of whose writes carries the checks.
func (l *Lease) Checks() []framework.TxnOp {
	var checks []framework.TxnOp
	for _, h := range l.inner().Holds() {
		for _, n := range h.Seat().Nodes() {
			checks = append(checks, framework.CheckOp(n.Path, framework.AnyVersion).In(h.Client()))
		}
	}
	return checks
}

// Revoked is closed when somebody asks the holder to give the lock up; see
// Revoke. The first call begins to watch for that, and notices also what was
// asked before it.
func (l *Lease) Revoked() <-chan struct{} { return l.inner().Requested() }

// Release gives the lock up. It ends the lease's context before it tells the
// server. The last release of a lock that was re-entered is the one that frees
// it.
//
// An error is something that the caller can act on:
//
//   - the lease was lost before: the reason of the loss;
//   - the server refuses to delete the node, for want of rights, so that it
//     stays as long as the session: framework.IsRefusal;
//   - the lease was released already: ErrReleased.
//
// In every other case, Release returns nil. It waits for the server's answer, but no
// longer than until ctx ends, the connection breaks, or the session ends. If ctx has
// ended, it does not wait. In an outage, Release returns nil at once, and the client
// deletes the node in the background; see "How a call ends a node" in the index of the
// recipes. Until the node is gone, the next acquire finds it ahead. So
//
//	defer lease.Release(ctx)
//
// is right for any ctx. With a ReleasePolicy, the node may stay. For a minimum hold,
// Release waits until that is written into the node. Readers that share a node leave it
// to the last of them, whose Release returns the error of its deletion. No release can
// delete another holder's node. The lease of an InterProcessMultiLock releases all
// locks, the last first, and returns their errors joined.
func (l *Lease) Release(ctx context.Context) error { return l.inner().Release(ctx) }
